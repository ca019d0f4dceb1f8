import { HttpProblem } from './problem.ts'

/** Returns a whole number ≥ 0 from the query, or `otherwise` if it is missing. Throws HttpProblem for any other text. */
export function wholeNumber(request: Request, name: string, otherwise: number): number {
  const text = new URL(request.url).searchParams.get(name)
  if (text === null) return otherwise
  const number = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(number))
    throw new HttpProblem({
      status: 400,
      code: 'BAD_QUERY',
      detail: `"${name}" must be a whole number, not ${JSON.stringify(text.slice(0, 40))}`,
    })
  return number
}

/** Returns one of the allowed words from the query, or `otherwise` if it is missing. Throws HttpProblem for any other text. */
export function queryWord<T extends string>(request: Request, name: string, words: readonly T[], otherwise: T): T {
  const text = new URL(request.url).searchParams.get(name)
  if (text === null) return otherwise
  const word = words.find((candidate) => candidate === text)
  if (word === undefined)
    throw new HttpProblem({
      status: 400,
      code: 'BAD_QUERY',
      detail: `"${name}" must be one of ${words.join(', ')}, not ${JSON.stringify(text.slice(0, 40))}`,
    })
  return word
}
