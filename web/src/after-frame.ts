/** Begins something once what stands there now is on the screen; at once where nobody looks. */
export function afterFrame(begin: () => void): void {
  if (document.visibilityState === "hidden") begin();
  else requestAnimationFrame(() => setTimeout(begin));
}
