/** The `format` of a file, such as `rollscope.settings/1`: whether this version reads it. */

/** What is wrong with the format of a value that was opened; undefined where `version` and older ones are read. */
export function formatProblem(value: unknown, name: string, version: number): string | undefined {
  const format = typeof value === 'object' && value !== null && 'format' in value ? value.format : undefined
  const found = new RegExp(String.raw`^rollscope\.${name}/(\d{1,9})$`).exec(String(format))?.[1]
  if (found === undefined)
    return `format: expected ${JSON.stringify(`rollscope.${name}/${version}`)}, found ${JSON.stringify(format) ?? 'nothing'}`
  if (Number(found) > version)
    return `format: it is of version ${found}, written by a newer Rollscope; this one reads version ${version}. Update it to import this file`
  return undefined
}
