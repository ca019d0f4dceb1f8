import type { ShownStatus } from '#components/shell/server-state.tsx'
import { Heading } from '#components/ui/facts.tsx'
import { explainIgnored, type ServerTraits } from '#lib/api/ignored-parameters.ts'
import { type SamplingField, samplingFields } from '#lib/sampling/fields.ts'
import type { SamplingName } from '#lib/sampling/parameters.ts'
import { type NumberInputs, SamplingInput } from './number-inputs.tsx'

interface SamplingPartProps extends NumberInputs {
  readonly status: ShownStatus
  /** Opens the list of all parameters, at one of them or at its beginning. */
  readonly onAll: (field: SamplingField | undefined) => void
}

const COMMON: readonly SamplingName[] = ['temperature', 'top_p', 'max_new_tokens', 'sampling_seed']

/** The parameters that most runs change, and a button for each other parameter that is set. */
export function SamplingPart({ status, onAll, ...inputs }: SamplingPartProps) {
  const { sampling } = inputs.setup
  const set = samplingFields.filter((field) => sampling[field] !== '')
  const others = set.filter((field) => !COMMON.some((name) => name === field))
  const server: ServerTraits = status.state === 'ready' ? status : {}
  const notes = set.flatMap((field) => {
    const why = field === 'further' ? undefined : explainIgnored(field, server)
    return why === undefined ? [] : [{ field, why }]
  })
  return (
    <div>
      <Heading>Sampling</Heading>
      <div className="grid grid-cols-2 gap-2.5">
        {COMMON.map((name) => (
          <SamplingInput key={name} name={name} {...inputs} />
        ))}
      </div>
      {others.length > 0 && (
        <ul aria-label="Further sampling parameters that are set" className="mt-2.5 flex flex-wrap gap-1.5">
          {others.map((field) => (
            <li key={field} className="min-w-0">
              <button
                type="button"
                data-invalid={inputs.errors[field] !== undefined || undefined}
                title={inputs.errors[field] ?? 'Change this parameter'}
                onClick={() => onAll(field)}
                className="block max-w-full truncate rounded-md border border-line bg-panel px-1.5 py-0.5 text-xs hover:border-line-strong data-invalid:border-bad data-invalid:text-bad"
              >
                {field} <span className="text-dim">{sampling[field].replaceAll('\n', ' ')}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {notes.map(({ field, why }) => (
        <p key={field} className="mt-1.5 text-warn text-xs">
          {field}: {why}
        </p>
      ))}
      <button
        type="button"
        onClick={() => onAll(undefined)}
        className="mt-2 font-medium text-accent text-xs hover:underline"
      >
        All sampling parameters…
      </button>
    </div>
  )
}
