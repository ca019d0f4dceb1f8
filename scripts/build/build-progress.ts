/** Says what a build does, from the output of Next: a first start would otherwise be silent for a minute. */

/** The steps of a build, each with the text in Next’s output with which it begins. */
const STEPS = [
  { begin: 'Creating an optimized production build', text: 'compiling the pages, the longest step' },
  { begin: 'Collecting page data', text: 'collecting the data of the pages' },
  { begin: 'Finalizing page optimization', text: 'bundling the page that opens without a server' },
] as const

/** Seconds after which a step that continues is reported again. */
export const REPORT_S = 15

/** Reports the steps of a build. */
export interface BuildProgress {
  /** Takes a piece of Next’s output. */
  readonly read: (output: string) => void
  /** Reports the present step with the seconds since the start. */
  readonly remind: () => void
}

/** Returns the progress of a build, which `print` shows line by line. `now` returns the time in milliseconds. */
export function createBuildProgress(print: (line: string) => void, now: () => number): BuildProgress {
  const startedAt = now()
  let step = 0
  let rest = ''
  const seconds = () => Math.round((now() - startedAt) / 1000)
  return {
    read(output) {
      const lines = (rest + output).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const next = STEPS[step]
        if (!next || !line.includes(next.begin)) continue
        step++
        print(`  ${step} of ${STEPS.length}: ${next.text} …`)
      }
    },
    remind: () => print(`  still building after ${seconds()} s`),
  }
}
