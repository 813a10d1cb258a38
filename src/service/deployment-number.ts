/**
 * Makes a function that returns the number of a deployment, as answers carry it: the first 8 of the 32 hexadecimal
 * digits of its fingerprint, where 00000000 counts as 1. It is 0 while the fingerprint is unknown; once there are IDs,
 * it is known. The number of a database of sequences is derived from its ID in the same way.
 */
export function createDeploymentNumber(fingerprintNow: () => string): () => number {
  let fingerprint = "";
  let number = 0;
  return () => {
    const now = fingerprintNow();
    if (now !== fingerprint) {
      fingerprint = now;
      number = now === "" ? 0 : Number.parseInt(now.slice(0, 8), 16) || 1;
    }
    return number;
  };
}
