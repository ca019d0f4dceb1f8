'use client'
import { useLayoutEffect, useState } from 'react'
import { DEFAULT_SETUP, type Setup } from '#lib/share/settings/setup.ts'
import { keepInBrowser, readStoredText } from './browser-storage.ts'

const SETUP_KEY = 'rollscope.setup'

const keep = (setup: Setup) => keepInBrowser(SETUP_KEY, JSON.stringify(setup))

/**
 * Returns the setup that was last used in this browser, how to change it, and whether it is still being read. Its schema is loaded only
 * if the browser stores one, so that a first visit does not load it. Until it is read, the defaults are shown, and nothing may be sent or
 * exported with them. Values that the user changes in the meantime stay.
 */
export function useSetup(): readonly [Setup, (setup: Setup) => void, boolean] {
  const [setup, setSetup] = useState(DEFAULT_SETUP)
  const [state, setState] = useState<'read' | 'reading' | 'failed'>('read')
  // The setup is read after the first render, because the server does not know what this browser stores.
  useLayoutEffect(() => {
    const text = readStoredText(SETUP_KEY)
    if (text === null) return
    setState('reading')
    readSetup(text).then(
      (stored) => {
        setState('read')
        setSetup((now) => {
          if (now === DEFAULT_SETUP) return stored
          const changed = withChanges(stored, now, DEFAULT_SETUP) as Setup
          keep(changed)
          return changed
        })
      },
      () => {
        // A server that was updated no longer has the schema. The stored setup then stays as it is until the page is reloaded.
        setState('failed')
      },
    )
  }, [])
  return [
    setup,
    (changed) => {
      setSetup(changed)
      // Until the stored setup is read, this would replace it by the defaults.
      if (state === 'read') keep(changed)
    },
    state === 'reading',
  ]
}

async function readSetup(text: string): Promise<Setup> {
  const { setupFrom } = await import('#lib/share/settings/setup-schema.ts')
  try {
    return setupFrom(JSON.parse(text))
  } catch {
    return DEFAULT_SETUP
  }
}

type Fields = Readonly<Record<string, unknown>>

/** Returns `stored` with each value of `now` that is not the default, also inside `limits`, `sampling` and `reward`. */
function withChanges(stored: Fields, now: Fields, defaults: Fields): Fields {
  const changes = Object.entries(now).flatMap(([field, value]) => {
    const [kept, before] = [stored[field], defaults[field]]
    if (value === before) return []
    return [[field, isFields(value) && isFields(kept) && isFields(before) ? withChanges(kept, value, before) : value]]
  })
  return { ...stored, ...Object.fromEntries(changes) }
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
