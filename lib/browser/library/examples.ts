import { ApiError } from '../api.ts'

interface Example {
  /** Name of the file in public/examples. */
  readonly name: string
  readonly title: string
  readonly note: string
}

/** Trajectories that come with the application: real runs of the built-in model, recorded by scripts/examples.ts. */
export const EXAMPLES: readonly Example[] = [
  {
    name: 'two-steps',
    title: 'Two calls, one after the other',
    note: 'Greedy, with thinking: the second call needs the result of the first.',
  },
  {
    name: 'parallel-calls',
    title: 'Two calls at once, then a next turn',
    note: 'Greedy, with thinking: both results are in one prompt segment, and the next question follows on the same tokens.',
  },
  {
    name: 'retokenization-drift',
    title: 'Sampled ids that change when the text is encoded again',
    note: 'Temperature 1: at least one word is spelled with different tokens than the tokenizer would use. Encoding the text again changes the ids.',
  },
  {
    name: 'tool-error',
    title: 'A tool that fails',
    note: 'Greedy, with thinking: division by zero goes back to the model as an error, and it says so.',
  },
]

/** Returns the error for a name that no example has. */
export const unknownExample = (name: string): ApiError =>
  new ApiError(
    404,
    'NOT_FOUND',
    `There is no example “${name}”.`,
    `The examples are ${EXAMPLES.map((example) => example.name).join(', ')}.`,
  )
