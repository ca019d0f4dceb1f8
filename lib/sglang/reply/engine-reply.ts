/** Converts SGLang's JSON of a reply to the form that all engines share. */

import type { EngineColumns } from '#lib/engine/columns.ts'
import type { EngineReply } from '#lib/engine/reply.ts'
import type { Finish } from '#lib/trajectory/format/trajectory.ts'
import type { GenerateReply } from '../server/schema.ts'

/** Returns a reply of /generate, or a chunk of one, as a part. `redact` makes the server's text safe to show and store. */
export function engineReply(
  { text, output_ids, prompt_token_ids, meta_info: meta }: GenerateReply,
  columns: EngineColumns,
  redact: (text: string) => string,
): EngineReply {
  return {
    columns,
    outputIds: output_ids,
    text,
    promptTokens: meta.prompt_tokens,
    promptIds: prompt_token_ids,
    completionTokens: meta.completion_tokens,
    cachedTokens: meta.cached_tokens,
    tokensSoFar: meta.output_token_logprobs_length,
    finish: meta.finish_reason ? finishOf(meta.finish_reason, redact) : undefined,
    routedExperts: meta.routed_experts,
    weightVersions: meta.weight_versions,
    weightVersion: meta.weight_version,
    serverMs: typeof meta.e2e_latency === 'number' ? meta.e2e_latency * 1000 : undefined,
  }
}

function finishOf(
  reason: NonNullable<GenerateReply['meta_info']['finish_reason']>,
  redact: (text: string) => string,
): Finish {
  switch (reason.type) {
    case 'stop':
      return {
        kind: 'stop',
        ...((typeof reason.matched === 'number' || typeof reason.matched === 'string') && { matched: reason.matched }),
      }
    case 'length':
      return { kind: 'length' }
    case 'abort':
      return { kind: 'abort', ...(reason.message && { message: redact(reason.message) }) }
    default:
      return { kind: 'unknown', raw: redact(JSON.stringify(reason)) }
  }
}
