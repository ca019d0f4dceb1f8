import type { ReactNode } from 'react'
import { countText, durationText, percentText } from '#components/token-view/numbers.ts'
import type { ReportedLoad, ServerLoad } from '#lib/api/server-load.ts'
import type { ReadyStatus } from '#lib/api/server-status.ts'
import { ENGINE_NAMES } from '#lib/sampling/engine-names.ts'
import { Fact, Facts, Heading } from '../ui/facts.tsx'

interface ServerDetailsProps {
  readonly status: ReadyStatus
  /** `undefined` while the request is pending. */
  readonly load: ServerLoad | undefined
}

/** Shows everything that a server reports about itself; missing facts are marked as unknown. */
export function ServerDetails({ status, load }: ServerDetailsProps) {
  const { kind, workers = [], contextLength, latencyMs, weightVersion } = status
  const reportedLoad = load?.state === 'reported' ? load : undefined
  const engine = ENGINE_NAMES[status.capabilities?.engine ?? 'sglang']
  return (
    <div className="grid gap-x-12 gap-y-6 md:grid-cols-[repeat(auto-fit,minmax(16rem,20rem))]">
      <Group title="Model served">
        <Fact name="model">{status.modelName ?? UNKNOWN_TEXT}</Fact>
        <Fact name="weight version">{weightVersion ?? UNKNOWN_TEXT}</Fact>
        <Fact name="tokenizer">{status.tokenizerName ?? UNKNOWN_TEXT}</Fact>
        <Fact name="context length">
          {contextLength === undefined ? UNKNOWN_TEXT : `${countText(contextLength)} tokens`}
        </Fact>
        <Fact name="tool-call parser">{parserText(status) ?? UNKNOWN_TEXT}</Fact>
        <Fact name="reasoning parser">{status.reasoningParser ?? UNKNOWN_TEXT}</Fact>
      </Group>
      <Group title="Server behaviour">
        <Fact name="kind">{kind === 'router' ? `router, ${workersText(workers)}` : `${engine} server`}</Fact>
        <Fact name={`${engine} version`}>{status.version ?? UNKNOWN_TEXT}</Fact>
        <Fact name="streaming" title={STREAMING_TITLE}>
          {streamingText(status.incrementalStreaming)}
        </Fact>
        <Fact name="deterministic inference" title="Seeds take effect only where it is on.">
          {onOff(status.deterministicInference)}
        </Fact>
        <Fact name="prefix cache" title="Prompts with the same beginning share computed values.">
          {onOff(status.prefixCache)}
        </Fact>
        <Fact name="answered in" title="Round trip of the request for the model’s details.">
          {durationText(latencyMs)}
        </Fact>
      </Group>
      <Group title="Now">
        <LoadFacts kind={kind} load={load} capacity={reportedLoad?.maxTotalTokens ?? status.maxTotalTokens} />
      </Group>
      {workers.length > 0 && (
        <Group title="Workers">
          {workers.map(({ url, isHealthy }) => (
            <Fact key={url} name={isHealthy ? 'healthy' : 'not healthy'}>
              <span className="font-mono">{url}</span>
            </Fact>
          ))}
        </Group>
      )}
    </div>
  )
}

interface LoadFactsProps {
  readonly kind: ReadyStatus['kind']
  readonly load: ServerLoad | undefined
  /** Capacity of the KV cache, in tokens. */
  readonly capacity: number | undefined
}

function LoadFacts({ kind, load, capacity }: LoadFactsProps) {
  if (!load) return <Fact name="queue">checking…</Fact>
  if (load.state === 'failed')
    return (
      <Fact name="queue">
        <span className="text-bad">{load.message}</span>
        {load.hint !== undefined && <span className="block text-dim">{load.hint}</span>}
      </Fact>
    )
  const reportedLoad: Partial<ReportedLoad> = load.state === 'reported' ? load : {}
  const { running, waiting, maxRunning, tokenUsage, cachedShare, tokensPerSecond } = reportedLoad
  return (
    <>
      <Fact name={kind === 'router' ? 'requests at workers' : 'requests running'}>
        {running === undefined
          ? UNKNOWN_TEXT
          : `${countText(running)}${maxRunning === undefined ? '' : ` of ${countText(maxRunning)}`}`}
      </Fact>
      <Fact name="requests waiting">{waiting === undefined ? UNKNOWN_TEXT : countText(waiting)}</Fact>
      <Fact name="KV cache in use">{tokenUsage === undefined ? UNKNOWN_TEXT : percentText(tokenUsage)}</Fact>
      <Fact name="KV cache capacity">{capacity === undefined ? UNKNOWN_TEXT : `${countText(capacity)} tokens`}</Fact>
      <Fact name="cached share of prompts" title="Share of recent prompt tokens that came from the cache.">
        {cachedShare === undefined ? UNKNOWN_TEXT : percentText(cachedShare)}
      </Fact>
      <Fact name="generating">
        {tokensPerSecond === undefined ? UNKNOWN_TEXT : `${countText(Math.round(tokensPerSecond))} tok/s`}
      </Fact>
    </>
  )
}

function Group({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section>
      <Heading>{title}</Heading>
      <Facts>{children}</Facts>
    </section>
  )
}

const UNKNOWN_TEXT = <span className="text-faint">unknown</span>

/** Returns the name of the server's parser, followed by the name of the matching parser here if it differs. */
function parserText({ toolCallParser, parser }: ReadyStatus): string | undefined {
  if (toolCallParser === undefined || toolCallParser === parser) return toolCallParser
  return `${toolCallParser}, ${parser === undefined ? 'not supported here' : `here ${parser}`}`
}

const onOff = (value: boolean | undefined): ReactNode => (value === undefined ? UNKNOWN_TEXT : value ? 'on' : 'off')

const STREAMING_TITLE =
  'Incremental: each chunk brings only new tokens. Cumulative: each chunk repeats the whole reply so far, so few chunks are requested and the live view moves every 256 tokens or more. SGLang 0.5.12 or newer streams incrementally with --incremental-streaming-output.'

const streamingText = (isIncremental: boolean | undefined): ReactNode =>
  isIncremental === undefined ? UNKNOWN_TEXT : isIncremental ? 'incremental' : 'cumulative'

function workersText(workers: NonNullable<ReadyStatus['workers']>): string {
  const healthy = workers.filter(({ isHealthy }) => isHealthy).length
  return `${healthy} of ${workers.length} ${workers.length === 1 ? 'worker' : 'workers'} healthy`
}
