/** The lines of a scoring, gathered as they come: the numbers lie in one column, and what has come stays when it breaks off. */
import type { ScoreLine, ScoreRequest, ScoringServer } from './score.ts'

/** How ids are scored, and where: the page asks over HTTP, the server its own client. */
export type Score = (request: ScoreRequest, signal: AbortSignal) => AsyncIterable<ScoreLine>

/** What a page needs to offer scoring. */
export interface Scorer {
  /** Names of saved servers; undefined until they are known. */
  readonly servers: readonly string[] | undefined
  /** Where the trajectory names none that is there. */
  readonly defaultServer: string | undefined
  readonly score: Score
}

export interface Gathered {
  readonly server: ScoringServer
  /** Of the weights that answered, each once. */
  readonly versions: readonly string[]
}

/** Ended before all was scored. */
export class ScoringError extends Error {
  readonly code: string
  readonly hint: string | undefined

  constructor(code: string, detail: string, hint?: string) {
    super(detail)
    this.name = 'ScoringError'
    this.code = code
    this.hint = hint
  }
}

/**
 * Fills `scores`: one for each id of the request, NaN where nothing came. Throws ScoringError, and what the lines throw; what
 * has come until then is in `scores`.
 */
export async function gatherScores(
  lines: AsyncIterable<ScoreLine>,
  scores: Float64Array,
  onProgress: (tokensDone: number) => void,
): Promise<Gathered> {
  const versions = new Set<string>()
  let server: ScoringServer | undefined
  let done = 0
  for await (const line of lines)
    switch (line.kind) {
      case 'server':
        server = line
        break
      case 'scores':
        for (const [offset, logprob] of line.logprobs.entries()) scores[line.start + offset] = logprob ?? Number.NaN
        if (line.weightVersion !== undefined) versions.add(line.weightVersion)
        done += line.logprobs.length
        onProgress(done)
        break
      case 'failed':
        throw new ScoringError(line.code, line.detail, line.hint)
      case 'done':
        if (server) return { server, versions: [...versions] }
    }
  throw new ScoringError('UPSTREAM_TRUNCATED', 'The answer ended before all was scored.')
}
