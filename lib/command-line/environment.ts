import type { TokenizerPlaces } from '#lib/tokenizer/hub/load.ts'

/** What a command needs from its process, so that tests can replace it. */
export interface CommandEnvironment {
  /** The folder where relative paths begin. */
  readonly folder: string
  readonly places: TokenizerPlaces
  /** Name of the built-in model's tokenizer. */
  readonly builtIn: string
  /** Standard input, in pieces. */
  readonly input: AsyncIterable<Uint8Array>
  readonly print: (text: string) => void
  readonly complain: (text: string) => void
  /** The version of Rollscope. */
  readonly version: string
  /** Starts the application, which then runs until a signal ends it. */
  readonly start: () => Promise<void>
  /** Stops the application that `start` started; the process ends with the exit status of the command. */
  readonly stop: () => void
  /** Returns the running applications that work on the data folder of this environment. */
  readonly running: () => readonly RunningApplication[]
}

/** An application that accepts requests. */
export interface RunningApplication {
  /** Such as `http://127.0.0.1:3000`. */
  readonly address: string
  /** Its launch token. */
  readonly token: string
}
