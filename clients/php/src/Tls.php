<?php

declare(strict_types=1);

namespace Snowlane;

/** Paths of PEM files: the authorities to trust, and a certificate with its key for mutual TLS. */
final readonly class Tls
{
    public function __construct(
        public ?string $caFile = null,
        public ?string $certFile = null,
        public ?string $keyFile = null,
    ) {
        foreach ([$caFile, $certFile, $keyFile] as $file) {
            if ($file !== null && !is_readable($file)) {
                throw new \InvalidArgumentException("The file $file of the option tls cannot be read.");
            }
        }
        if (($certFile === null) !== ($keyFile === null)) {
            throw new \InvalidArgumentException('The option tls needs both a certificate and its key, or neither.');
        }
    }
}
