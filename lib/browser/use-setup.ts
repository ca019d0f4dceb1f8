'use client'
import { useEffect, useRef, useState } from 'react'
import { DEFAULT_SETUP, type Setup } from '#lib/share/settings/setup.ts'
import { keepInBrowser, readStoredText } from './browser-storage.ts'

const SETUP_KEY = 'rollscope.setup'

const keep = (setup: Setup) => keepInBrowser(SETUP_KEY, JSON.stringify(setup))

/**
 * Returns the setup that was last used in this browser. Its schema is loaded only if the browser stores one, so that a first visit does not
 * load it. Fields that the user changes in the meantime keep their new values.
 */
export function useSetup(): readonly [Setup, (setup: Setup) => void] {
  const [setup, setSetup] = useState(DEFAULT_SETUP)
  const isReading = useRef(false)
  // The setup is read after the first render, because the server does not know what this browser stores.
  useEffect(() => {
    const text = readStoredText(SETUP_KEY)
    if (text === null) return
    isReading.current = true
    readSetup(text).then(
      (stored) => {
        isReading.current = false
        setSetup((now) => {
          if (now === DEFAULT_SETUP) return stored
          const changed = { ...stored, ...changedFields(now) }
          keep(changed)
          return changed
        })
      },
      () => {
        // A server that was updated no longer has the schema. The stored setup then stays as it is until the page is reloaded.
      },
    )
  }, [])
  return [
    setup,
    (changed) => {
      setSetup(changed)
      // Until the stored setup is read, this would replace it by the defaults.
      if (!isReading.current) keep(changed)
    },
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

const changedFields = (setup: Setup): Partial<Setup> =>
  Object.fromEntries(Object.entries(setup).filter(([field, value]) => value !== DEFAULT_SETUP[field as keyof Setup]))
