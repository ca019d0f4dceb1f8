/** Checks the `format` field of a file, such as `rollscope.settings/1`. */

/** Returns the problem of an opened value's format, or undefined if the format is `version` or older. */
export function formatProblem(value: unknown, name: string, version: number): string | undefined {
  const format = typeof value === 'object' && value !== null && 'format' in value ? value.format : undefined
  const found = new RegExp(String.raw`^rollscope\.${name}/(\d{1,9})$`).exec(String(format))?.[1]
  if (found === undefined)
    return `format: expected ${JSON.stringify(`rollscope.${name}/${version}`)}, found ${JSON.stringify(format) ?? 'nothing'}`
  if (Number(found) > version)
    return `format: version ${found} was written by a newer Rollscope; this one reads version ${version}. Update it to import this file`
  return undefined
}
