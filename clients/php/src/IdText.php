<?php

declare(strict_types=1);

namespace Snowlane;

/** IDs as text, in two forms that need no layout: decimal, and base 58 of 11 characters, which sorts as the IDs do. */
final class IdText
{
    private const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
    private const WIDTH = 11;
    private const DECIMAL_MAX = 19;

    /** @throws SnowlaneException MALFORMED_ID for a number below 0 */
    public static function toDecimal(int $id): string
    {
        return (string) self::checked($id);
    }

    /** @throws SnowlaneException MALFORMED_TEXT for anything but the one decimal text of an ID */
    public static function fromDecimal(string $text): int
    {
        $digits = strspn($text, '0123456789');
        return match (true) {
            $text === '' => throw self::malformed('decimal', 'too_short', 0),
            $digits < min(strlen($text), self::DECIMAL_MAX) => throw self::malformed('decimal', 'character', $digits),
            strlen($text) > self::DECIMAL_MAX => throw self::malformed('decimal', 'too_long', self::DECIMAL_MAX),
            $text[0] === '0' && $text !== '0' => throw self::malformed('decimal', 'leading_zero', 0),
            (string) (int) $text !== $text => throw self::malformed('decimal', 'out_of_range', 0),
            default => (int) $text,
        };
    }

    /** @throws SnowlaneException MALFORMED_ID for a number below 0 */
    public static function toBase58(int $id): string
    {
        $text = str_repeat('1', self::WIDTH);
        for ($left = self::checked($id), $place = self::WIDTH - 1; $left > 0; $left = intdiv($left, 58), $place--) {
            $text[$place] = self::ALPHABET[$left % 58];
        }
        return $text;
    }

    /** @throws SnowlaneException MALFORMED_TEXT for anything but the one base 58 text of an ID */
    public static function fromBase58(string $text): int
    {
        $digits = strspn($text, self::ALPHABET);
        return match (true) {
            $digits < min(strlen($text), self::WIDTH) => throw self::malformed('base58', 'character', $digits),
            strlen($text) < self::WIDTH => throw self::malformed('base58', 'too_short', strlen($text)),
            strlen($text) > self::WIDTH => throw self::malformed('base58', 'too_long', self::WIDTH),
            // Texts sort as the IDs do.
            strcmp($text, self::toBase58(PHP_INT_MAX)) > 0 => throw self::malformed('base58', 'out_of_range', 0),
            default => self::value($text),
        };
    }

    private static function value(string $text): int
    {
        $id = 0;
        foreach (str_split($text) as $character) {
            $id = $id * 58 + strpos(self::ALPHABET, $character);
        }
        return $id;
    }

    private static function checked(int $id): int
    {
        if ($id >= 0) {
            return $id;
        }
        $text = "The number $id is not an ID: an ID is from 0 to 2^63 - 1.";
        throw new SnowlaneException(ErrorReason::MALFORMED_ID, $text, 'INVALID_ARGUMENT', ['id' => (string) $id]);
    }

    private static function malformed(string $form, string $why, int $position): SnowlaneException
    {
        $metadata = ['form' => $form, 'reason' => $why, 'position' => (string) $position];
        $text = "The text is not an ID in the form $form: $why at position $position.";
        return new SnowlaneException(ErrorReason::MALFORMED_TEXT, $text, 'INVALID_ARGUMENT', $metadata);
    }
}
