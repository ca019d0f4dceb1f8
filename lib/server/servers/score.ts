/**
 * Scores ids on a server by prefill (max_new_tokens 0). Long sequences are scored on growing prefixes, each call from where the one before
 * ended, so that earlier tokens come from the prefix cache and no call requests the logits of a whole context. The client compares the ids
 * that the server reports to have read with those that were sent.
 */
import { BUILT_IN } from '#lib/api/server-name.ts'
import { EngineError } from '#lib/engine/http/errors.ts'
import type { RequestImages } from '#lib/engine/images.ts'
import type { End } from '#lib/engine/reply.ts'
import type { GenerateRequest } from '#lib/engine/request.ts'
import { TokenizerError } from '#lib/tokenizer/files/tokenizer-files.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { joinRoutedExperts, readExperts } from '#lib/trajectory/experts/routed-experts.ts'
import type { RoutedExperts, Span } from '#lib/trajectory/format/trajectory.ts'
import { readDataUrl } from '#lib/trajectory/images/data-url.ts'
import { imageSpans, placeholderIds, placeholderRuns } from '#lib/trajectory/images/placeholders.ts'
import type { AdaptedSpan } from '#lib/trajectory/scoring/adapters.ts'
import type { ScoreLine, ScoreRequest, Scores, ScoringServer } from '#lib/trajectory/scoring/score.ts'
import { countText, countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { HttpProblem } from '../http/problem.ts'
import { newRequestId } from '../http/request-id.ts'
import type { Services } from '../services.ts'
import { checkScoring } from './capability-checks.ts'

/**
 * Largest number of positions in one call: SGLang keeps the logits of all of them at once, 1.2 GB for 2,048 positions at a vocabulary of
 * 150,000.
 */
const MOST_POSITIONS = 2048

/** A checked request whose scores can be read. */
export interface Scoring {
  readonly server: ScoringServer
  /** Tokenizer of the server; undefined if its files are not available here. */
  readonly tokenizer: Tokenizer | undefined
  /** Yields the scores of each call. Throws EngineError, or the reason of the signal. */
  scores(signal: AbortSignal): AsyncGenerator<Scores>
}

/** Requests the server's description and refuses what the server could not score. Throws HttpProblem or EngineError. */
export async function openScoring(request: ScoreRequest, all: Services, signal: AbortSignal): Promise<Scoring> {
  const { ids, server: name = all.servers.defaultName, startLen = 0, topLogprobs = 0, adapter, routedExperts } = request
  const ranges = (request.ranges ?? [{ start: startLen, end: ids.length }]).map((range) => ({
    ...(adapter !== undefined && { adapter }),
    ...range,
  }))
  const client = all.servers.client(name)
  const serverDescription = await client.describe(signal)
  checkScoring(serverDescription, {
    adapters: ranges.flatMap((range) => range.adapter ?? []),
    routedExperts,
    images: request.images !== undefined,
  })
  const needed = ranges.at(-1)?.end ?? 0
  if (serverDescription.contextLength !== undefined && needed >= serverDescription.contextLength)
    throw new HttpProblem({
      status: 422,
      code: 'CONTEXT_LENGTH',
      detail: `${countText(needed)} tokens do not fit into the context of ${name}, which accepts fewer than ${countText(serverDescription.contextLength)}`,
      hint: 'A sequence is never cut for scoring. Choose a server with a longer context.',
      field: 'ids',
    })
  const { vocabularySize, tokenizer } = await vocabularyOf(
    { name, tokenizerName: serverDescription.tokenizerName },
    ids,
    all,
    signal,
  )
  const images = request.images && imagesOfIds(ids, request.images, tokenizer)
  const { modelName, weightVersion } = serverDescription
  return {
    server: {
      name,
      ...(modelName !== undefined && { modelName }),
      ...(weightVersion !== undefined && { weightVersion }),
      ...(tokenizer && { tokenizer: { name: tokenizer.name, fingerprint: tokenizer.fingerprint } }),
    },
    tokenizer,
    async *scores(signal) {
      for (const range of ranges.flatMap(portions)) {
        // Requests begin one position early, because SGLang returns no logprob for the first requested position.
        const from = Math.max(0, range.start - 1)
        const end = endOfInput(range.end, images)
        const generateRequest: GenerateRequest = {
          inputIds: ids.slice(0, end),
          ...(images && { images: imagesBefore(end, images) }),
          sampling: {},
          rid: newRequestId(),
          stream: false,
          scoreOnly: true,
          logprobStartLen: from,
          ...(routedExperts && { routedExpertsStart: from }),
          topLogprobsNum: topLogprobs,
          ...(range.adapter !== undefined && { adapter: range.adapter }),
          vocabularySize,
          expected: serverDescription,
        }
        yield await scoresOfSpan(client.generate(generateRequest, signal), range, end, routedExperts ? from : undefined)
      }
    },
  }
}

/** Finds the placeholders of the images among the ids. Throws HttpProblem if they are not as many. */
function imagesOfIds(ids: readonly number[], urls: readonly string[], tokenizer: Tokenizer | undefined): RequestImages {
  const odd = urls.map(readDataUrl).findIndex(({ ok }) => !ok)
  if (odd >= 0)
    throw new HttpProblem({
      status: 422,
      code: 'IMAGE_REFUSED',
      detail: `image ${odd + 1} cannot be sent: it is no data URL of a PNG, JPEG, WebP or GIF image within the limits`,
      field: `images.${odd}`,
    })
  const placeholders = placeholderIds(tokenizer?.addedTokens ?? [])
  const spans = imageSpans(placeholderRuns(ids, placeholders), urls.length)
  if (spans.length !== urls.length)
    throw new HttpProblem({
      status: 422,
      code: 'IMAGE_PLACEHOLDERS',
      detail: `the ids have ${countWithNoun(spans.length, 'image placeholder')}, expected ${urls.length}, one for each image`,
      hint: tokenizer
        ? 'The trajectory lacks images, or its tokens lack placeholders.'
        : 'Its placeholders are known only with the files of the server’s tokenizer. Make them available under ROLLSCOPE_TOKENIZERS.',
      field: 'images',
    })
  return { urls, spans, placeholders }
}

/** An image is sent whole, so a call that would end within one reads it to its end. */
const endOfInput = (end: number, images: RequestImages | undefined): number =>
  images?.spans.find((span) => span.start < end && end < span.end)?.end ?? end

function imagesBefore(end: number, images: RequestImages): RequestImages {
  const spans = images.spans.filter((span) => span.end <= end)
  return { ...images, spans, urls: images.urls.slice(0, spans.length) }
}

/** Yields the lines of a streamed answer; a failure of the server is its last line. */
export async function* scoreLines(scoring: Scoring, signal: AbortSignal): AsyncGenerator<ScoreLine> {
  yield { kind: 'server', ...scoring.server }
  try {
    for await (const scores of scoring.scores(signal)) yield { kind: 'scores', ...scores }
    yield { kind: 'done' }
  } catch (error) {
    if (signal.aborted) return
    if (!(error instanceof EngineError)) throw error
    const { code, message, hint } = error
    yield { kind: 'failed', code, detail: message, ...(hint !== undefined && { hint }) }
  }
}

/** Returns all scores in one answer. Throws EngineError, or the reason of the signal. */
export async function scoreAtOnce(scoring: Scoring, signal: AbortSignal) {
  const parts: Scores[] = []
  for await (const scores of scoring.scores(signal)) parts.push(scores)
  const [first] = parts
  const last = parts.at(-1)
  const experts = joinRoutedExperts(parts.map(({ routedExperts }) => routedExperts))
  const tops = parts.flatMap(({ topLogprobs }) => topLogprobs ?? [])
  return {
    server: scoring.server,
    start: first?.start ?? 0,
    logprobs: parts.flatMap(({ logprobs }) => logprobs),
    ...(tops[0] &&
      tops.length === parts.length && {
        topLogprobs: {
          k: tops[0].k,
          ids: tops.flatMap(({ ids }) => ids),
          logprobs: tops.flatMap(({ logprobs }) => logprobs),
        },
      }),
    ...(experts && { routedExperts: experts }),
    ...(last?.weightVersion !== undefined && { weightVersion: last.weightVersion }),
    ...(first?.cachedTokens !== undefined && { cachedTokens: first.cachedTokens }),
  }
}

function portions({ start, end, ...adapter }: AdaptedSpan): readonly AdaptedSpan[] {
  return Array.from({ length: Math.ceil((end - start) / MOST_POSITIONS) }, (_, index) => ({
    ...adapter,
    start: start + index * MOST_POSITIONS,
    end: Math.min(end, start + (index + 1) * MOST_POSITIONS),
  }))
}

async function scoresOfSpan(
  chunks: ReturnType<ReturnType<Services['servers']['client']>['generate']>,
  { start, end }: Span,
  inputLength: number,
  expertsFrom: number | undefined,
): Promise<Scores> {
  for await (const { prompt, end: ending, tokens } of chunks) {
    if (ending?.finish.kind === 'abort')
      throw new EngineError('UPSTREAM_ERROR', `the server aborted: ${ending.finish.message ?? 'it reports no reason'}`)
    if (tokens.ids.length > 0)
      throw new EngineError(
        'INCONSISTENT',
        `the server wrote ${tokens.ids.length} tokens, but the request was for scoring only`,
      )
    const found = prompt?.logprobs ?? []
    const from = found.length - (inputLength - start)
    const to = from + (end - start)
    if (from < 0) throw new EngineError('INCONSISTENT', `the server scored ${found.length} of ${end - start} positions`)
    const top = prompt?.topLogprobs
    const version = ending?.weightVersions?.at(-1)?.version
    const hasExperts = expertsFrom !== undefined && expertsFrom < end - 1
    const experts = hasExperts ? expertsOf(ending, expertsFrom, end) : undefined
    const cached = ending?.usage.cachedTokens
    return {
      start,
      logprobs: found.slice(from, to),
      ...(top && {
        topLogprobs: {
          k: top.k,
          ids: top.ids.slice(from * top.k, to * top.k),
          logprobs: top.logprobs.slice(from * top.k, to * top.k),
        },
      }),
      ...(experts && { routedExperts: experts }),
      ...(version !== undefined && { weightVersion: version }),
      ...(cached !== undefined && { cachedTokens: cached }),
    }
  }
  throw new EngineError('UPSTREAM_TRUNCATED', 'the server gave no reply')
}

/** Returns the experts of the positions from `start`; the last position before `end` is not read. Throws EngineError. */
function expertsOf(ending: End | undefined, start: number, end: number): RoutedExperts {
  const { routedExperts } = ending ?? {}
  if (routedExperts === undefined) throw new EngineError('INCONSISTENT', 'the server returned no routed experts')
  const read = readExperts(routedExperts, { start, rows: end - 1 - start, perToken: undefined })
  if (!read.ok) throw new EngineError('INCONSISTENT', read.why)
  return read.experts
}

/**
 * Returns which ids the server has, because an id after its last one ends the server for everyone. The tokenizer's files decide; if they
 * are not available here, the server must return the text of the largest id. Throws HttpProblem.
 */
async function vocabularyOf(
  server: { readonly name: string; readonly tokenizerName: string | undefined },
  ids: readonly number[],
  { tokenizers, servers }: Services,
  signal: AbortSignal,
): Promise<{ readonly vocabularySize: number; readonly tokenizer?: Tokenizer }> {
  const largest = ids.reduce((a, b) => Math.max(a, b), 0)
  const foreign = () =>
    new HttpProblem({
      status: 422,
      code: 'OTHER_TOKENIZER',
      detail: `the server ${server.name} has no token with the id ${largest}`,
      hint: 'The ids belong to another model: choose a server with that model.',
      field: 'ids',
    })
  const name = server.name === BUILT_IN ? BUILT_IN : server.tokenizerName
  const loaded = name === undefined ? undefined : await tokenizers.load(name, signal).catch(withoutFiles)
  if (loaded) {
    const { tokenizer } = loaded
    if (largest >= tokenizer.vocabularySize) throw foreign()
    return { vocabularySize: tokenizer.vocabularySize, tokenizer }
  }
  const texts = await servers
    .client(server.name)
    .detokenize([[largest]], 'with special tokens', signal)
    .catch((error: unknown) => {
      if (!(error instanceof EngineError)) throw error
      throw new HttpProblem({
        status: 422,
        code: 'NO_TOKENIZER',
        detail: `it is unknown whether ${server.name} has these ids: the files of its tokenizer are not available here, and /detokenize fails (${error.message})`,
        hint: 'An unknown id would crash the server. Make its tokenizer available under ROLLSCOPE_TOKENIZERS.',
      })
    })
  if (texts[0] === '') throw foreign()
  return { vocabularySize: Number.POSITIVE_INFINITY }
}

function withoutFiles(error: unknown): undefined {
  if (!(error instanceof TokenizerError)) throw error
}
