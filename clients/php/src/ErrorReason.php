<?php

declare(strict_types=1);

namespace Snowlane;

/**
 * Why a call failed. Match on it, never on the text of a message. docs/errors.md says for each of the servers' what to
 * do.
 */
enum ErrorReason: string
{
    case COUNT_OUT_OF_RANGE = 'COUNT_OUT_OF_RANGE';
    case MALFORMED_ID = 'MALFORMED_ID';
    case MALFORMED_TEXT = 'MALFORMED_TEXT';
    case AMBIGUOUS_TEXT = 'AMBIGUOUS_TEXT';
    case INVALID_LAYOUT = 'INVALID_LAYOUT';
    case INVALID_TEXT_FORMAT = 'INVALID_TEXT_FORMAT';
    case INVALID_TIME_RANGE = 'INVALID_TIME_RANGE';
    case MISSING_CREDENTIALS = 'MISSING_CREDENTIALS';
    case METHOD_DENIED = 'METHOD_DENIED';
    case HOST_NOT_ALLOWED = 'HOST_NOT_ALLOWED';
    case QUOTA_EXCEEDED = 'QUOTA_EXCEEDED';
    case CLOCK_ROLLED_BACK = 'CLOCK_ROLLED_BACK';
    case BURST_EXCEEDED = 'BURST_EXCEEDED';
    case WORKER_LEASE_LOST = 'WORKER_LEASE_LOST';
    case WINDOW_EXPIRED = 'WINDOW_EXPIRED';
    case STORE_UNAVAILABLE = 'STORE_UNAVAILABLE';
    case SHUTTING_DOWN = 'SHUTTING_DOWN';
    case STREAM_STALLED = 'STREAM_STALLED';
    case TIMESTAMP_EXHAUSTED = 'TIMESTAMP_EXHAUSTED';
    case CLOCK_BEFORE_EPOCH = 'CLOCK_BEFORE_EPOCH';
    case NO_FREE_WORKER_ID = 'NO_FREE_WORKER_ID';
    case LAYOUT_MISMATCH = 'LAYOUT_MISMATCH';
    case STORE_WENT_BACK = 'STORE_WENT_BACK';
    case INVALID_CONFIG = 'INVALID_CONFIG';
    case SEQUENCE_NOT_FOUND = 'SEQUENCE_NOT_FOUND';
    case SEQUENCE_EXISTS = 'SEQUENCE_EXISTS';
    case SEQUENCE_DISABLED = 'SEQUENCE_DISABLED';
    case SEQUENCE_CHANGED = 'SEQUENCE_CHANGED';
    case INVALID_SEQUENCE = 'INVALID_SEQUENCE';
    case VALUES_EXHAUSTED = 'VALUES_EXHAUSTED';
    case PERIOD_CLOSED = 'PERIOD_CLOSED';

    /** No endpoint that was tried answered, or one was unavailable and gave no reason. By the client, as all below. */
    case UNREACHABLE = 'UNREACHABLE';
    /** The deadline of the call passed, and no attempt had failed otherwise. */
    case DEADLINE_EXCEEDED = 'DEADLINE_EXCEEDED';
    /** The endpoints serve two deployments, whose IDs can be equal. */
    case DEPLOYMENT_MISMATCH = 'DEPLOYMENT_MISMATCH';
    /** The client or the buffer is closed. */
    case CLIENT_CLOSED = 'CLIENT_CLOSED';
    /** Nothing is in stock, and the call does not wait. */
    case STOCK_EMPTY = 'STOCK_EMPTY';
    /** A server's answer breaks its contract; no ID of it is used. */
    case INVALID_RESPONSE = 'INVALID_RESPONSE';
    /** Any other status, or one with a reason that this client does not know, which then is in the metadata. */
    case RPC_FAILED = 'RPC_FAILED';
}
