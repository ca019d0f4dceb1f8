'use client'
import { useEffect, useState } from 'react'
import { DEFAULT_SETUP, type Setup, setupFrom } from '#lib/share/settings/setup.ts'
import { keepInBrowser, readStoredText } from './browser-storage.ts'

const SETUP_KEY = 'rollscope.setup'

/** Returns the setup that was last used in this browser. */
export function useSetup(): readonly [Setup, (setup: Setup) => void] {
  const [setup, setSetup] = useState(DEFAULT_SETUP)
  // The setup is read after the first render, because the server does not know what this browser stores.
  useEffect(() => setSetup(readStoredSetup()), [])
  return [
    setup,
    (changed) => {
      setSetup(changed)
      keepInBrowser(SETUP_KEY, JSON.stringify(changed))
    },
  ]
}

function readStoredSetup(): Setup {
  try {
    return setupFrom(JSON.parse(readStoredText(SETUP_KEY) ?? '{}'))
  } catch {
    return DEFAULT_SETUP
  }
}
