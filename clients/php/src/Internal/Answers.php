<?php

declare(strict_types=1);

namespace Snowlane\Internal;

use Snowlane\ErrorReason;
use Snowlane\SnowlaneException;

/** Reads what came for a request: the message of an answer, or the error. */
final class Answers
{
    private const CURL_UNSUPPORTED_PROTOCOL = 1;
    private const CURL_WEIRD_SERVER_REPLY = 8;
    private const NOT_OURS = 'Something other than a gRPC server answers there';
    private const TLS_HINT = 'if the server speaks TLS, begin the endpoint with https://';
    private const CODES_OF_STATUS = [
        400 => 'INTERNAL',
        401 => 'UNAUTHENTICATED',
        403 => 'PERMISSION_DENIED',
        404 => 'UNIMPLEMENTED',
        429 => 'UNAVAILABLE',
        502 => 'UNAVAILABLE',
        503 => 'UNAVAILABLE',
        504 => 'UNAVAILABLE',
    ];

    /**
     * @return array<string, mixed>
     * @throws SnowlaneException
     */
    public static function read(Exchange $exchange): array
    {
        if ($exchange->curlError !== 0) {
            throw self::connectionFailure($exchange);
        }
        $message = json_decode($exchange->body, true, 64, JSON_BIGINT_AS_STRING);
        $isJson = is_array($message) && str_starts_with($exchange->contentType, 'application/json');
        if ($exchange->status === 200 && $isJson) {
            return $message;
        }
        if ($exchange->status === 200) {
            throw self::unreachable($exchange->endpoint, 'not_grpc', self::NOT_OURS . '.');
        }
        throw $isJson && is_string($message['code'] ?? null)
            ? self::ofServer($exchange->endpoint, $message)
            : self::ofStatus($exchange);
    }

    /** An answer that breaks its contract. */
    public static function invalid(string $text, Endpoint|null $endpoint = null): SnowlaneException
    {
        return new SnowlaneException(ErrorReason::INVALID_RESPONSE, $text, 'INTERNAL', endpoint: $endpoint?->url);
    }

    /** @param array<string, mixed> $error */
    private static function ofServer(Endpoint $endpoint, array $error): SnowlaneException
    {
        // Nobody here cancelled: the server has dropped the call.
        $code = $error['code'] === 'canceled' ? 'UNAVAILABLE' : strtoupper($error['code']);
        $info = self::detail($error, 'google.rpc.ErrorInfo');
        $delay = self::detail($error, 'google.rpc.RetryInfo')['retryDelay'] ?? null;
        $metadata = array_map(strval(...), is_array($info['metadata'] ?? null) ? $info['metadata'] : []);
        $named = is_string($info['reason'] ?? null) ? $info['reason'] : null;
        $reason = $named === null ? null : ErrorReason::tryFrom($named);
        $text = is_string($error['message'] ?? null) ? $error['message'] : $code;
        if ($reason === null) {
            $reason = $code === 'UNAVAILABLE' ? ErrorReason::UNREACHABLE : ErrorReason::RPC_FAILED;
            $metadata += $named === null ? [] : ['reason' => $named];
            $text = $code === 'UNAVAILABLE' ? "The server cannot answer now: $text" : $text;
        }
        $retryAfterMs = is_string($delay) ? (int) round((float) $delay * 1_000) : null;
        return new SnowlaneException($reason, $text, $code, $metadata, $retryAfterMs, $endpoint->url);
    }

    /** An HTTP status of something before the server, or of something else. */
    private static function ofStatus(Exchange $exchange): SnowlaneException
    {
        $code = self::CODES_OF_STATUS[$exchange->status] ?? 'UNKNOWN';
        $text = "The server answers with the HTTP status {$exchange->status}.";
        $reason = $code === 'UNAVAILABLE' ? ErrorReason::UNREACHABLE : ErrorReason::RPC_FAILED;
        return new SnowlaneException($reason, $text, $code, endpoint: $exchange->endpoint->url);
    }

    /**
     * @param array<string, mixed> $error
     * @return array<string, mixed>
     */
    private static function detail(array $error, string $type): array
    {
        foreach (is_array($error['details'] ?? null) ? $error['details'] : [] as $detail) {
            if (($detail['type'] ?? null) === $type && is_array($detail['debug'] ?? null)) {
                return $detail['debug'];
            }
        }
        return [];
    }

    private static function connectionFailure(Exchange $exchange): SnowlaneException
    {
        $endpoint = $exchange->endpoint;
        $text = $exchange->curlText;
        return match ($exchange->curlError) {
            CURLE_COULDNT_RESOLVE_HOST => self::unreachable($endpoint, 'no_address', 'The host name has no address.'),
            CURLE_COULDNT_CONNECT => self::notConnected($exchange),
            self::CURL_UNSUPPORTED_PROTOCOL, self::CURL_WEIRD_SERVER_REPLY => self::unreachable(
                $endpoint,
                'not_grpc',
                self::NOT_OURS . ($endpoint->isPlaintext() ? ': ' . self::TLS_HINT : '') . '.',
            ),
            CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CACERT, CURLE_SSL_PEER_CERTIFICATE => self::tlsFailure($endpoint, $text),
            default => str_contains($text, 'certificate required')
                ? self::tlsFailure($endpoint, $text)
                : self::closed($endpoint, $text),
        };
    }

    private static function notConnected(Exchange $exchange): SnowlaneException
    {
        // ECONNREFUSED; ENOENT, of a socket that is not there.
        if (in_array($exchange->systemError, [111, 61, 2], true)) {
            $text = 'The connection was refused: no server listens there.';
            return self::unreachable($exchange->endpoint, 'refused', $text);
        }
        return self::unreachable($exchange->endpoint, null, "The server does not answer: {$exchange->curlText}");
    }

    private static function tlsFailure(Endpoint $endpoint, string $text): SnowlaneException
    {
        $authority = 'The certificate of the server is not trusted: give the option tls the authority that signed it.';
        $host = 'The certificate of the server is for another host: correct the endpoint, or the option tls.';
        $own = 'The server requires a client certificate that it trusts: give the option tls one with its key.';
        [$kind, $said] = match (1) {
            preg_match('/expired|not yet valid/', $text) => [
                'expired',
                'The certificate of the server has expired, or is not valid yet.',
            ],
            preg_match('/subject name|target host|host name/', $text) => ['wrong_host', $host],
            preg_match('/alert (certificate required|bad certificate|unknown ca)|certificate required/', $text) =>
                ['needs_certificate', $own],
            preg_match('/certificate/', $text) => ['untrusted', $authority],
            preg_match('/wrong version|packet length|record layer|unexpected (eof|message)|SYSCALL/i', $text) =>
                ['not_tls', 'The server does not speak TLS: begin the endpoint with http://.'],
            default => ['closed', "The server does not answer: $text"],
        };
        return self::unreachable($endpoint, $kind, $said);
    }

    private static function closed(Endpoint $endpoint, string $text): SnowlaneException
    {
        $hint = $endpoint->isPlaintext() ? ': ' . self::TLS_HINT : ": $text";
        return self::unreachable($endpoint, 'closed', "The connection was closed before any answer$hint.");
    }

    private static function unreachable(Endpoint $endpoint, ?string $kind, string $text): SnowlaneException
    {
        $metadata = $kind === null ? [] : ['connection' => $kind];
        return new SnowlaneException(ErrorReason::UNREACHABLE, $text, 'UNAVAILABLE', $metadata, endpoint: $endpoint->url);
    }
}
