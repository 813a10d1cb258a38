<?php

declare(strict_types=1);

namespace Snowlane;

use Snowlane\Internal\Answers;
use Snowlane\Internal\Caller;
use Snowlane\Internal\Runs;

/** A sequence of the deployment: 1, 2, 3. A value whose answer was lost stays a gap. */
final readonly class Sequence
{
    /** @internal by {@see IdClient::sequence} */
    public function __construct(private Caller $caller, private string $name)
    {
    }

    /** @throws SnowlaneException */
    public function nextValue(?int $timeoutMs = null): SequenceValue
    {
        $answer = $this->caller->call('SequenceService/NextValue', ['name' => $this->name], $timeoutMs);
        $value = Runs::whole($answer['value'] ?? 0);
        if ($value < 1) {
            throw Answers::invalid('The server sent a value below 1.');
        }
        return new SequenceValue($value, (string) ($answer['text'] ?? ''), (string) ($answer['periodKey'] ?? ''));
    }

    /**
     * The text of one value.
     *
     * @throws SnowlaneException INVALID_SEQUENCE where the sequence has no template: that value is then a gap
     */
    public function nextText(?int $timeoutMs = null): string
    {
        $value = $this->nextValue($timeoutMs);
        if ($value->text !== '') {
            return $value->text;
        }
        $problem = "The sequence {$this->name} has no text template, so its values have no text. Call nextValue() instead.";
        $metadata = ['name' => $this->name, 'value' => (string) $value->value, 'field' => 'text_template'];
        throw new SnowlaneException(ErrorReason::INVALID_SEQUENCE, $problem, 'INVALID_ARGUMENT', $metadata);
    }

    /**
     * 1 to `count` values, in runs.
     *
     * @throws SnowlaneException
     */
    public function reserve(int $count, ?int $timeoutMs = null): ReservedValues
    {
        if ($count < 1 || $count > IdClient::COUNT_MAX) {
            $text = "The count $count is not from 1 to " . IdClient::COUNT_MAX . '.';
            throw new SnowlaneException(ErrorReason::COUNT_OUT_OF_RANGE, $text, 'INVALID_ARGUMENT');
        }
        $message = ['name' => $this->name, 'count' => $count];
        $answer = $this->caller->call('SequenceService/ReserveValues', $message, $timeoutMs);
        $runs = Runs::read($answer['runs'] ?? [], $count, 'firstValue', 'increment');
        $values = array_map(static fn (Run $run) => new ValueRun($run->firstId, $run->count, $run->stride), $runs);
        return new ReservedValues($values, (string) ($answer['periodKey'] ?? ''));
    }
}
