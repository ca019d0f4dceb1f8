/**
 * A loader of Turbopack for `zod/v4/mini/schemas.js`. Its function `hash` reads a pattern by a computed name, which would keep every pattern of
 * zod: 2 kB of compressed script on every page. No page calls `hash`, which throws here as for an unknown algorithm.
 */
const COMPUTED = 'core.regexes[format]'

/** Returns the module without the computed name. Throws if the installed zod has another one, so that an update cannot undo this unnoticed. */
module.exports = function removeComputedName(/** @type {string} */ source) {
  const parts = source.split(COMPUTED)
  if (parts.length !== 2)
    throw new Error(
      `zod/v4/mini/schemas.js has ${parts.length - 1} × ${COMPUTED}, not 1: correct scripts/smaller-zod.cjs`,
    )
  return parts.join('undefined')
}
