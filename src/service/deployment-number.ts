/**
 * Makes the reader of the number of a deployment, as answers carry it: the first 8 of the 32 hexadecimal digits of its
 * fingerprint, where 00000000 counts as 1. 0 while the fingerprint is unknown, which it is not once there are IDs. The
 * number of a database of sequences follows from its ID alike.
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
