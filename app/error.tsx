'use client'
import { Button } from '#components/ui/button.tsx'

/** The error of the loader for a module whose file has not arrived, although another one that needs it has. */
const MISSING_MODULE = /^Module \S+ was instantiated .* module factory is not available/

/** The page that replaces one that threw an error; an unloaded part of the build needs a reload of the page. */
export default function ErrorPage({ error, reset }: { readonly error: Error; readonly reset: () => void }) {
  // A second attempt to draw would request the same missing file of an old build, or repeat the failure that the loader remembers.
  const isUnloaded = error.name === 'ChunkLoadError' || MISSING_MODULE.test(error.message)
  return (
    <main className="grid h-dvh place-content-center gap-3 p-4 text-center">
      <title>Error · Rollscope</title>
      <h1 className="font-semibold text-lg">
        {isUnloaded ? 'A part of this page could not be loaded' : 'This page failed'}
      </h1>
      <p className="max-w-lg text-dim [overflow-wrap:anywhere]">
        {isUnloaded
          ? 'Rollscope does not respond, or it was updated after this page was opened. Recorded data is stored.'
          : error.message}
      </p>
      <div>
        <Button look="primary" onClick={isUnloaded ? () => window.location.reload() : reset}>
          {isUnloaded ? 'Reload page' : 'Try again'}
        </Button>
      </div>
    </main>
  )
}
