'use client'
import { useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { copyAndDescribe } from '#components/ui/copy-text.ts'
import { Popover } from '#components/ui/popover.tsx'
import { type Repro, reproOf } from '#lib/analysis/repro/repro.ts'
import { reproJson } from '#lib/analysis/repro/repro-json.ts'
import { reproPytest } from '#lib/analysis/repro/repro-pytest.ts'
import type { ShownPair } from '../view.ts'

interface CopyReproProps {
  readonly pair: ShownPair
  /** Number of the chosen span; undefined: the whole comparison. */
  readonly drift: number | undefined
  /** Saves the text as a file. */
  readonly onSave: (text: string, name: string) => void
}

const FORMS: readonly {
  readonly name: string
  readonly file: string
  readonly note: string
  readonly write: (repro: Repro) => string
}[] = [
  {
    name: 'pytest',
    file: 'test_drift.py',
    note: 'A test for Python’s transformers that fails at this drift.',
    write: reproPytest,
  },
  {
    name: 'JSON',
    file: 'drift-repro.json',
    note: 'Template, messages, the ids of both sides and the verdict.',
    write: reproJson,
  },
]

/** Popover that copies or saves a drift span for people without Rollscope: as a Python test, and as JSON. */
export function CopyRepro({ pair, drift, onSave }: CopyReproProps) {
  const [said, setSaid] = useState('')
  /** Writes the text on demand, because the ids of a long trajectory are many. */
  const withText = (write: (repro: Repro) => string, use: (text: string) => unknown) => {
    const repro = reproOf(pair, drift)
    if (repro.ok) use(write(repro.value))
    else setSaid(repro.why)
  }
  const copy = (name: string) => async (text: string) => setSaid(await copyAndDescribe(text, `Copied ${name}.`))
  return (
    <Popover label="Copy repro" button={<span className="text-xs">Copy repro</span>}>
      <ul className="grid w-72 max-w-full gap-3">
        {FORMS.map(({ name, file, note, write }) => (
          <li key={name} className="grid gap-1.5">
            <p className="text-xs">
              <span className="font-semibold">{name}</span> <span className="text-dim">{note}</span>
            </p>
            <div className="flex gap-2">
              <Button className="text-xs" onClick={() => withText(write, copy(name))}>
                Copy {name}
              </Button>
              <Button className="text-xs" onClick={() => withText(write, (text) => onSave(text, file))}>
                Save {file}
              </Button>
            </div>
          </li>
        ))}
      </ul>
      <p role="status" className="mt-2 min-h-4 text-dim text-xs">
        {said}
      </p>
    </Popover>
  )
}
