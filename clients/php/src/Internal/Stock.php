<?php

declare(strict_types=1);

namespace Snowlane\Internal;

/** IDs at hand. An ID is claimed by one step on the cursor of its run, and by nothing else. */
interface Stock
{
    /** The next ID that is young enough; null if there is none. */
    public function claim(): ?int;

    /** How many IDs were left when {@see claim} looked last. */
    public function left(): int;

    /** How many IDs were ever taken in, by all processes that have this stock. */
    public function takenIn(): int;

    /** How the refills of this stock have gone, to be handed to {@see add}. */
    public function policy(): RefillPolicy;

    /** Whether this process may reserve now, and no other does. */
    public function beginAsking(): bool;

    public function endAsking(): void;

    public function add(Answer $answer, RefillPolicy $policy): void;

    /** How many IDs this process dropped. */
    public function dropped(): int;

    /** Drops what this process alone has. */
    public function drop(): void;
}
