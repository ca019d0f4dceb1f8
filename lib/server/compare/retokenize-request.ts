/** Finds the trajectory that a request names, and encodes its text or messages again. */
import { buildSide } from '#lib/analysis/compare/retokenized.ts'
import type { LoadedSide } from '#lib/analysis/compare/shown-side.ts'
import { BUILT_IN } from '#lib/api/server-name.ts'
import type { TrajectoryReader } from '#lib/store/record.ts'
import type { TokenizerLoader } from '#lib/tokenizer/hub/load.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { ids as idsOf, lossMask, segmentStarts, segmentsOf } from '#lib/trajectory/tokens/tokens.ts'
import { commonIds } from '#lib/util/common-prefix.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { readStored } from '../library/read-stored.ts'
import { loadSide, unwrapBuildResult } from './load-side.ts'
import type { RetokenizeAnswer, RetokenizeRequest } from './retokenize.ts'
import { trajectoryOfIds } from './trajectory-of-ids.ts'

interface Deps {
  readonly reader: Pick<TrajectoryReader, 'read'>
  readonly tokenizers: TokenizerLoader
}

/** Returns the retokenized trajectory. Throws HttpProblem or TokenizerError. */
export async function runRetokenizeRequest(request: RetokenizeRequest, deps: Deps): Promise<RetokenizeAnswer> {
  const { trajectory: key, mode, tokenizer = key === undefined ? BUILT_IN : undefined, template } = request
  const trajectory = key === undefined ? trajectoryOfIds(request.ids ?? []) : readStored(key, deps.reader)
  const as = { kind: mode, ...(tokenizer !== undefined && { tokenizer }) }
  const answer = sideAnswer(await loadSide(trajectory, as, template, deps, new AbortController().signal))
  return key === undefined ? { ...answer, mask: null } : answer
}

function sideAnswer(loaded: LoadedSide): RetokenizeAnswer {
  const { trajectory, caveats, perSegment } = unwrapBuildResult(buildSide(loaded), 'NOT_RETOKENIZED')
  const ids = idsOf(trajectory)
  const original = idsOf(loaded.trajectory)
  const unchanged = commonIds(original, ids)
  const starts = segmentStarts(trajectory)
  const { name = '', fingerprint = '' } = trajectory.model.tokenizer ?? {}
  return {
    ids,
    vocab: trajectory.vocab,
    text: textOf(ids, trajectory.vocab),
    mask: lossMask(trajectory),
    firstDrift: unchanged === ids.length && unchanged === original.length ? null : unchanged,
    segments: segmentsOf(trajectory).map(({ kind }, index) => ({
      kind,
      start: elementAt(starts, index),
      end: elementAt(starts, index + 1),
    })),
    ...(perSegment && { perSegment: [...perSegment] }),
    caveats: [...caveats],
    doubts: [...caveats],
    tokenizer: { name, fingerprint },
  }
}
