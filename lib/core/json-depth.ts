/** How many arrays and objects lie in one another: 0 for a number, 1 for `[]`. Walks level by level: depth costs no stack. */
export function jsonDepth(value: unknown): number {
  let depth = 0
  for (let level = [value].filter(isContainer); level.length > 0; depth++)
    level = level.flatMap((container) => Object.values(container).filter(isContainer))
  return depth
}

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null
