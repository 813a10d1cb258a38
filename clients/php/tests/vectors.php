<?php

declare(strict_types=1);

// Holds the text forms to test/vectors, as every client is. Prints how many texts were compared.

use Snowlane\IdText;
use Snowlane\SnowlaneException;

require __DIR__ . '/../autoload.php';

/** @return list<array<string, mixed>> */
function vectors(string $name): array
{
    $text = file_get_contents(__DIR__ . "/../../../test/vectors/$name");
    // A lone surrogate is not UTF-8: U+FFFD gives the same error.
    $text = preg_replace('/\\\\ud83d(?!\\\\ud)|\\\\ud800/', '\\ufffd', $text);
    return json_decode($text, true, 64, JSON_THROW_ON_ERROR)['vectors'];
}

function hold(mixed $found, mixed $expected): void
{
    if ($found !== $expected) {
        throw new UnexpectedValueException(var_export($found, true) . ' instead of ' . var_export($expected, true));
    }
}

$forms = [
    'decimal' => [IdText::toDecimal(...), IdText::fromDecimal(...)],
    'base58' => [IdText::toBase58(...), IdText::fromBase58(...)],
];
$compared = 0;
foreach (vectors('ids.json') as $vector) {
    foreach ($vector['texts'] as ['form' => $form, 'text' => $text]) {
        if (isset($forms[$form])) {
            [$write, $read] = $forms[$form];
            hold($write((int) $vector['id']), $text);
            hold($read($text), (int) $vector['id']);
            $compared++;
        }
    }
}
foreach (vectors('refused.json') as $vector) {
    if ($vector['kind'] === 'text' && isset($forms[$vector['form'] ?? ''])) {
        try {
            $forms[$vector['form']][1]($vector['text']);
            throw new UnexpectedValueException("The text {$vector['text']} was read.");
        } catch (SnowlaneException $failure) {
            hold($failure->reason->value, $vector['error']);
            hold($failure->metadata, $vector['metadata']);
            $compared++;
        }
    }
}
echo "compared $compared\n";
