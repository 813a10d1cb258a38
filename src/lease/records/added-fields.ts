/** Fields at the top of a record that a later version added, by name: strings and safe integers. */
export type AddedFields = Readonly<Record<string, string | number>>;

/** The added fields of a record that this version creates. */
export const noneAdded: AddedFields = {};
