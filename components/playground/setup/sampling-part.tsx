import { lazyPart } from '#components/shell/lazy-part.tsx'
import type { ShownStatus } from '#components/shell/server-state.tsx'
import { Heading } from '#components/ui/facts.tsx'
import type { SamplingField } from '#lib/sampling/fields.ts'
import type { SamplingName } from '#lib/sampling/parameters.ts'
import { DEFAULT_SETUP } from '#lib/share/settings/setup.ts'
import { type NumberInputs, SamplingInput } from './number-inputs.tsx'

// The default parameters need no buttons, and every server takes them.
const SetParameters = lazyPart(async () => (await import('./set-parameters.tsx')).SetParameters)

interface SamplingPartProps extends NumberInputs {
  readonly status: ShownStatus
  /** Opens the list of all parameters, at one of them or at its beginning. */
  readonly onAll: (field: SamplingField | undefined) => void
}

const COMMON: readonly SamplingName[] = ['temperature', 'top_p', 'max_new_tokens', 'sampling_seed']

/** The parameters that most runs change, and a button for each other parameter that is set. */
export function SamplingPart({ status, onAll, ...inputs }: SamplingPartProps) {
  const { sampling } = inputs.setup
  return (
    <div>
      <Heading>Sampling</Heading>
      <div className="grid grid-cols-2 gap-2.5">
        {COMMON.map((name) => (
          <SamplingInput key={name} name={name} {...inputs} />
        ))}
      </div>
      {sampling !== DEFAULT_SETUP.sampling && (
        <SetParameters
          sampling={sampling}
          errors={inputs.errors}
          server={status.state === 'ready' ? status : {}}
          common={COMMON}
          onOpen={onAll}
        />
      )}
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
