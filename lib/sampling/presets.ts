/** Sampling by a name: those that come along, and what of the fields each sets. */
import * as z from 'zod'
import type { Plain } from '#lib/util/plain.ts'
import { type SamplingField, type SamplingTexts, samplingFields, samplingTextsSchema } from './fields.ts'

export interface Preset {
  readonly name: string
  readonly note: string
  /** What is not there stays as it is. */
  readonly sampling: Readonly<Partial<SamplingTexts>>
}

/** Kept in the browser and in settings files: all fields. */
const ownPresetSchema = z.object({ name: z.string().trim().min(1).max(80), sampling: samplingTextsSchema }).readonly()
export type OwnPreset = Plain<z.infer<typeof ownPresetSchema>>

export const ownPresetsSchema = z
  .array(ownPresetSchema)
  .max(200)
  .refine((presets) => new Set(presets.map(({ name }) => name)).size === presets.length, 'presets of different names')
  .readonly()

const NO_PENALTIES = { frequency_penalty: '', presence_penalty: '', repetition_penalty: '', logit_bias: '' } as const
const NOTHING = Object.fromEntries(samplingFields.map((field) => [field, ''])) as SamplingTexts
const UNCUT = { top_p: '1', top_k: '', min_p: '' } as const

export const BUILT_IN_PRESETS: readonly Preset[] = [
  {
    name: 'Greedy',
    note: 'The likeliest token each time; the same prompt gives the same reply.',
    sampling: { temperature: '0', ...UNCUT, ...NO_PENALTIES },
  },
  {
    name: 'T = 1, for RL',
    note: 'Nothing cut and nothing penalised: sampled logprobs are those of the policy.',
    sampling: { temperature: '1', ...UNCUT, ...NO_PENALTIES },
  },
  {
    name: 'Qwen3, thinking',
    note: 'As published with the model: T 0.6, top_p 0.95, top_k 20.',
    sampling: { temperature: '0.6', top_p: '0.95', top_k: '20', min_p: '0' },
  },
  {
    name: 'Qwen3, no thinking',
    note: 'As published with the model: T 0.7, top_p 0.8, top_k 20.',
    sampling: { temperature: '0.7', top_p: '0.8', top_k: '20', min_p: '0' },
  },
  { name: 'The server’s defaults', note: 'Nothing is sent but max_new_tokens.', sampling: NOTHING },
]

/** A field that another text would stand in. */
export interface FieldChange {
  readonly field: SamplingField
  /** '' = not sent. */
  readonly from: string
  readonly to: string
}

export const samplingChanges = (from: SamplingTexts, to: Readonly<Partial<SamplingTexts>>): readonly FieldChange[] =>
  samplingFields.flatMap((field) => {
    const text = to[field]
    return text === undefined || text === from[field] ? [] : [{ field, from: from[field], to: text }]
  })
