/**
 * The place to which a key leads from another one: the arrow keys, Home and End, within a row of `count`. Undefined for
 * any other key.
 */
export function placeByKey(key: string, at: number, count: number): number | undefined {
  const places: Readonly<Record<string, number>> = {
    ArrowRight: at + 1,
    ArrowDown: at + 1,
    ArrowLeft: at - 1,
    ArrowUp: at - 1,
    Home: 0,
    End: count - 1,
  };
  const place = places[key];
  return place === undefined ? undefined : Math.min(Math.max(place, 0), count - 1);
}

/** Moves the focus by a key among the buttons of a row, of which only one is in the order of Tab. */
export function moveFocus(event: KeyboardEvent): void {
  const buttons = [...(event.currentTarget as HTMLElement).querySelectorAll("button")];
  const place = placeByKey(event.key, buttons.indexOf(event.target as HTMLButtonElement), buttons.length);
  if (place === undefined) return;
  event.preventDefault();
  buttons[place]?.focus();
}
