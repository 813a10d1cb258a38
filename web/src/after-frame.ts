/** Begins something once what is there now is on the screen; at once where nobody looks. */
export function afterFrame(begin: () => void): void {
  if (document.visibilityState === "hidden") begin();
  else requestAnimationFrame(() => setTimeout(begin));
}

/** Lets the page draw and listen between two slices of work. A tab in the background gets no frames: a timer helps. */
export function afterSlice(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => resolve());
    setTimeout(resolve, 50);
  });
}
