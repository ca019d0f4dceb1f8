'use client'
import { Button } from '#components/ui/button.tsx'

/** The page that replaces one that threw an error; an unloaded part of the build needs a reload of the page. */
export default function ErrorPage({ error, reset }: { readonly error: Error; readonly reset: () => void }) {
  // A second attempt to draw would request the same missing file of an old build, or repeat the failure that the loader remembers.
  const isUnloaded = error.name === 'ChunkLoadError'
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
