/** Defines named sampling presets: the built-in ones, the user's own, and the fields that each sets. */
import * as z from 'zod/mini'
import type { Plain } from '#lib/util/plain.ts'
import { DEFAULT_SAMPLING_TEXTS, type SamplingField, type SamplingTexts, samplingFields } from './fields.ts'
import { textsSchema } from './sampling-form.ts'

/** A built-in preset. */
export interface Preset {
  readonly name: string
  readonly note: string
  /** Fields that are absent keep their text. */
  readonly sampling: Readonly<Partial<SamplingTexts>>
}

/** Schema of a preset of the user, with all fields. The browser and settings files store it. */
const ownPresetSchema = z.readonly(
  z.object({
    name: z.string().check(z.trim(), z.minLength(1), z.maxLength(80)),
    sampling: textsSchema(DEFAULT_SAMPLING_TEXTS),
  }),
)
/** A preset that the user saved. */
export type OwnPreset = Plain<z.infer<typeof ownPresetSchema>>

/** Schema of the user's presets. */
export const ownPresetsSchema = z.readonly(
  z.array(ownPresetSchema).check(
    z.maxLength(200),
    z.refine(
      (presets) => new Set(presets.map(({ name }) => name)).size === presets.length,
      'presets with different names',
    ),
  ),
)

const NO_PENALTIES = { frequency_penalty: '', presence_penalty: '', repetition_penalty: '', logit_bias: '' } as const
const NOTHING = Object.fromEntries(samplingFields.map((field) => [field, ''])) as SamplingTexts
const UNCUT = { top_p: '1', top_k: '', min_p: '' } as const

/** Presets that the application has, in display order. */
export const BUILT_IN_PRESETS: readonly Preset[] = [
  {
    name: 'Greedy',
    note: 'The most likely token at each position; the same prompt gives the same reply.',
    sampling: { temperature: '0', ...UNCUT, ...NO_PENALTIES },
  },
  {
    name: 'T = 1, for RL',
    note: 'No truncation and no penalties: sampled logprobs are those of the policy.',
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
  { name: 'The server’s defaults', note: 'Only max_new_tokens is sent.', sampling: NOTHING },
]

/** A field whose text a preset would change. */
export interface FieldChange {
  readonly field: SamplingField
  /** Texts of the field; an empty text is not sent. */
  readonly from: string
  readonly to: string
}

/** Returns the fields that differ after applying a preset. */
export const samplingChanges = (from: SamplingTexts, to: Readonly<Partial<SamplingTexts>>): readonly FieldChange[] =>
  samplingFields.flatMap((field) => {
    const text = to[field]
    return text === undefined || text === from[field] ? [] : [{ field, from: from[field], to: text }]
  })
