<?php

declare(strict_types=1);

namespace Snowlane\Internal;

/** One request and its answer. */
final class Exchange
{
    public bool $isDone = false;
    /** 0, or why libcurl has no answer. */
    public int $curlError = 0;
    public string $curlText = '';
    public int $systemError = 0;
    public int $status = 0;
    public string $contentType = '';
    public string $body = '';

    public function __construct(public readonly Endpoint $endpoint, public readonly \CurlHandle $handle)
    {
    }

    /** Reads the end of the request from its handle. */
    public function finish(int $curlError): void
    {
        $this->isDone = true;
        $this->curlError = $curlError;
        $this->curlText = curl_error($this->handle);
        $this->systemError = (int) curl_getinfo($this->handle, CURLINFO_OS_ERRNO);
        $this->status = (int) curl_getinfo($this->handle, CURLINFO_RESPONSE_CODE);
        $this->contentType = (string) curl_getinfo($this->handle, CURLINFO_CONTENT_TYPE);
        $this->body = (string) curl_multi_getcontent($this->handle);
    }
}
