/** Fields for the trainer's cut: the longest sequence that the trainer takes, and what it does to longer ones. */
import { useState } from 'react'
import { OVERLONG, type TrainerCut, trainerCutSchema } from '#lib/trajectory/health/trainer-cut.ts'

/** The entry of the browser's storage that keeps the trainer's cut; null means no limit. */
export const TRAINER_CUT = {
  name: 'trainer-cut',
  usual: null as TrainerCut | null,
  read: (stored: unknown): TrainerCut | undefined => trainerCutSchema.safeParse(stored).data,
}

const OVERLONG_TEXTS: Readonly<Record<TrainerCut['overlong'], string>> = {
  cut: 'are cut off',
  mask: 'are masked',
  drop: 'are dropped',
}

interface TrainerCutFieldsProps {
  readonly cut: TrainerCut | null
  readonly onCut: (cut: TrainerCut | null) => void
}

const BOX = 'min-h-7 rounded-md border border-line bg-raised px-2 hover:border-line-strong aria-invalid:border-bad'

/** Shows the fields of the trainer's cut; an empty length removes the limit. */
export function TrainerCutFields({ cut, onCut }: TrainerCutFieldsProps) {
  const [typed, setTyped] = useState<string>()
  const [overlong, setOverlong] = useState(cut?.overlong ?? 'cut')
  const text = typed ?? (cut ? String(cut.tokens) : '')
  const read = (tokens: string) =>
    trainerCutSchema.safeParse({ tokens: Number(tokens.replaceAll(/[,\s]/g, '')), overlong }).data
  const isWrong = text.trim() !== '' && read(text) === undefined
  return (
    <fieldset className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
      <legend className="sr-only">Trainer’s maximum length</legend>
      <label
        className="flex items-center gap-2"
        title="The longest sequence that your trainer accepts, prompt and response together, such as max_model_len, max_seq_len or rollout_max_context_len"
      >
        Trainer’s maximum length
        <input
          inputMode="numeric"
          autoComplete="off"
          placeholder="all"
          aria-invalid={isWrong || undefined}
          className={`w-22 text-right tabular-nums placeholder:text-faint ${BOX}`}
          value={text}
          onChange={(event) => {
            setTyped(event.target.value)
            if (event.target.value.trim() === '') onCut(null)
            else {
              const changed = read(event.target.value)
              if (changed) onCut(changed)
            }
          }}
          onBlur={() => setTyped(undefined)}
        />
        tokens
      </label>
      <label className="flex items-center gap-2" title="What your trainer does with longer samples">
        Longer samples
        <select
          className={BOX}
          value={cut?.overlong ?? overlong}
          onChange={(event) => {
            const chosen = OVERLONG.find((one) => one === event.target.value) ?? 'cut'
            setOverlong(chosen)
            if (cut) onCut({ ...cut, overlong: chosen })
          }}
        >
          {OVERLONG.map((one) => (
            <option key={one} value={one}>
              {OVERLONG_TEXTS[one]}
            </option>
          ))}
        </select>
      </label>
    </fieldset>
  )
}
