<?php

declare(strict_types=1);

// Loads the classes of this package where Composer does not: require it once.
spl_autoload_register(static function (string $class): void {
    if (str_starts_with($class, 'Snowlane\\')) {
        $path = __DIR__ . '/src/' . strtr(substr($class, 9), '\\', '/') . '.php';
        if (is_file($path)) {
            require $path;
        }
    }
});
