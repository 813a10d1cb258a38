/** Fields at the top of a record that a later version added, by name: strings and safe integers. */
export type AddedFields = Readonly<Record<string, string | number>>;

/** Those of a record that this version writes for the first time. */
export const noneAdded: AddedFields = {};
