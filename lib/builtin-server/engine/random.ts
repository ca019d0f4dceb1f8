/** Random numbers of xoshiro128** 1.1 (Blackman and Vigna, prng.di.unimi.it), seeded through SplitMix64 as its authors advise. */

/** Returns a generator of uniform numbers in [0, 1) with 53 random bits; without a seed they differ every time. */
export function createRandom(seed: number | undefined): () => number {
  const state = seed === undefined ? crypto.getRandomValues(new Uint32Array(4)) : stateOf(BigInt(Math.trunc(seed)))
  let [a, b, c, d] = state as unknown as [number, number, number, number]
  const next = (): number => {
    const result = Math.imul(rotateLeft(Math.imul(b, 5), 7), 9) >>> 0
    const shifted = b << 9
    c ^= a
    d ^= b
    b ^= c
    a ^= d
    c ^= shifted
    d = rotateLeft(d, 11)
    return result
  }
  return () => ((next() >>> 5) * 0x4000000 + (next() >>> 6)) / 0x20000000000000
}

const rotateLeft = (bits: number, by: number): number => (bits << by) | (bits >>> (32 - by))

function stateOf(seed: bigint): Uint32Array {
  let counter = BigInt.asUintN(64, seed)
  const words = Array.from({ length: 2 }, () => {
    counter = BigInt.asUintN(64, counter + 0x9e3779b97f4a7c15n)
    let mixed = BigInt.asUintN(64, (counter ^ (counter >> 30n)) * 0xbf58476d1ce4e5b9n)
    mixed = BigInt.asUintN(64, (mixed ^ (mixed >> 27n)) * 0x94d049bb133111ebn)
    return mixed ^ (mixed >> 31n)
  })
  return Uint32Array.from(words.flatMap((word) => [Number(word & 0xffffffffn), Number(word >> 32n)]))
}
