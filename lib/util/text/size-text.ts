/** Returns a number of bytes for people in decimal units, such as "0 kB", "34 kB", "3.4 MB" and "1.2 GB". */
export function sizeText(bytes: number): string {
  if (bytes < 1e6) return `${Math.round(bytes / 1e3)} kB`
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`
}
