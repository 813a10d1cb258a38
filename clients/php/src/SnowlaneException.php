<?php

declare(strict_types=1);

namespace Snowlane;

/** The one error of this client. Match on `reason`. As a message it is `REASON: text (endpoint)`. */
final class SnowlaneException extends \RuntimeException
{
    private const LASTING = [
        'INVALID_ARGUMENT',
        'UNAUTHENTICATED',
        'PERMISSION_DENIED',
        'NOT_FOUND',
        'ALREADY_EXISTS',
        'FAILED_PRECONDITION',
        'UNIMPLEMENTED',
    ];

    /**
     * @param string $grpcCode the gRPC code, such as UNAVAILABLE
     * @param array<string, string> $metadata every dynamic value of the text
     * @param int|null $retryAfterMs after how long a retry may help, where a server named a time
     * @param string|null $endpoint the endpoint that was asked last, if one was
     */
    public function __construct(
        public readonly ErrorReason $reason,
        public readonly string $text,
        public readonly string $grpcCode,
        public readonly array $metadata = [],
        public readonly ?int $retryAfterMs = null,
        public readonly ?string $endpoint = null,
    ) {
        parent::__construct("{$reason->value}: $text" . ($endpoint === null ? '' : " ($endpoint)"));
    }

    /** Whether waiting can cure it: the same call can succeed later, with nobody doing anything about it. */
    public function passes(): bool
    {
        return !in_array($this->grpcCode, self::LASTING, true) && !$this->isFirstMistake();
    }

    /** Whether the same call may be made again at once. */
    public function isRetried(): bool
    {
        return $this->grpcCode === 'UNAVAILABLE' || in_array($this->reason, [
            ErrorReason::QUOTA_EXCEEDED,
            ErrorReason::DEADLINE_EXCEEDED,
            ErrorReason::DEPLOYMENT_MISMATCH,
        ], true);
    }

    /** Whether no server of ours is where the client looks, or not in the way in which it looks. */
    public function isAbsence(): bool
    {
        return ($this->metadata['connection'] ?? 'closed') !== 'closed';
    }

    /** Whether this is the error of a call before the first answer ever. */
    public function isFirstMistake(): bool
    {
        return ($this->metadata['answered'] ?? '') === 'never';
    }

    /** The same error of a client that no server has answered yet. */
    public function beforeFirstAnswer(): self
    {
        $isNobody = in_array($this->metadata['connection'] ?? '', ['refused', 'no_address'], true);
        $hint = ' Start a server there (snowlane serve), or correct the endpoints: none has answered this client yet.';
        return new self(
            $this->reason,
            $this->text . ($isNobody ? $hint : ''),
            $this->grpcCode,
            [...$this->metadata, 'answered' => 'never'],
            $this->retryAfterMs,
            $this->endpoint,
        );
    }
}
