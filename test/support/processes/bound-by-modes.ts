/**
 * The command before a program that may open only the files that their modes let its user open. Root may open every
 * file otherwise; `setpriv` of util-linux takes this right away from it, and no other user has it.
 */
export const boundByModes: readonly string[] =
  process.getuid?.() === 0 ? ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] : [];
