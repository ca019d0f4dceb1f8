/** Collects the lines of a scoring into one column. Received scores are kept if the stream breaks off. */
import { type ExpertRows, joinRows, unpackExperts } from '../experts/routed-experts.ts'
import type { TrajectoryView } from '../tokens/trajectory-view.ts'
import type { ScoreLine, ScoreRequest, ScoringServer } from './score.ts'

/** Scores ids: the page does it over HTTP, the server with its own client. */
export type Score = (request: ScoreRequest, signal: AbortSignal) => AsyncIterable<ScoreLine>

/** The scoring service of a page. */
export interface Scorer {
  /** Names of saved servers; undefined while loading. */
  readonly servers: readonly string[] | undefined
  /** The server for trajectories whose own server is missing. */
  readonly defaultServer: string | undefined
  /** Returns why a server cannot score a trajectory; undefined if it can, or if its answer is pending. */
  readonly whyNot?: (server: string, trajectory: TrajectoryView) => string | undefined
  /** Names of the servers that return routed experts, as far as their answers have come. */
  readonly expertServers?: readonly string[]
  readonly score: Score
}

/** The result of a scoring. */
export interface ScoringResult {
  readonly server: ScoringServer
  /** Weight versions that answered, each once. */
  readonly versions: readonly string[]
  /** The routed experts, joined up to the first gap. Undefined: none were requested. */
  readonly experts: ExpertRows | undefined
}

/** A scoring that ended before all ids were scored. */
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
 * Fills `scores`, with one entry for each id of the request and NaN where nothing arrived. Throws ScoringError and
 * errors of the lines; `scores` then has the entries received so far.
 */
export async function gatherScores(
  lines: AsyncIterable<ScoreLine>,
  scores: Float64Array,
  onProgress: (tokensDone: number) => void,
): Promise<ScoringResult> {
  const versions = new Set<string>()
  const experts: ExpertRows[] = []
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
        if (line.routedExperts) experts.push(unpackExperts(line.routedExperts))
        done += line.logprobs.length
        onProgress(done)
        break
      case 'failed':
        throw new ScoringError(line.code, line.detail, line.hint)
      case 'done':
        if (server) return { server, versions: [...versions], experts: joinRows(experts) }
    }
  throw new ScoringError('UPSTREAM_TRUNCATED', 'The answer ended before everything was scored.')
}
