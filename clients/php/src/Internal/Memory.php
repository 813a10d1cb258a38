<?php

declare(strict_types=1);

namespace Snowlane\Internal;

/**
 * What the processes of one pool know together, in APCu. Nothing of it is needed: where APCu is not there, or lost a
 * key, a process finds it out by itself.
 */
final readonly class Memory
{
    private bool $isThere;

    /** @param string $prefix tells clients of other servers apart */
    public function __construct(private string $prefix)
    {
        $this->isThere = self::isAvailable();
    }

    public static function isAvailable(): bool
    {
        return function_exists('apcu_enabled') && apcu_enabled();
    }

    /** The value under a name; null if there is none. */
    public function get(string $name): mixed
    {
        if (!$this->isThere) {
            return null;
        }
        $value = apcu_fetch($this->prefix . $name, $isFound);
        return $isFound ? $value : null;
    }

    public function put(string $name, mixed $value, int $seconds): void
    {
        if ($this->isThere) {
            apcu_store($this->prefix . $name, $value, $seconds);
        }
    }

    /** Whether the name had no value: of several processes, one alone puts its own. */
    public function add(string $name, mixed $value, int $seconds): bool
    {
        return $this->isThere && apcu_add($this->prefix . $name, $value, $seconds);
    }

    /** Whether the number was still `$old`, and is `$new` now. Never makes a number that is not there. */
    public function swap(string $name, int $old, int $new): bool
    {
        return $this->isThere && apcu_cas($this->prefix . $name, $old, $new);
    }

    public function delete(string $name): void
    {
        if ($this->isThere) {
            apcu_delete($this->prefix . $name);
        }
    }
}
