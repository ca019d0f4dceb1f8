import { fireEvent, render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { EMPTY_PROMPT, type PromptWithImages } from '#lib/share/settings/prompt-draft.ts'
import { LIMITS } from '#lib/util/limits.ts'
import { IMAGES, JPEG_URL, PNG_URL } from '#testing/images.ts'
import { Composer } from './composer.tsx'
import { readImageFiles } from './image-files.ts'

beforeAll(async () => {
  // The page loads this module late; here it is loaded before the tests.
  await import('./attached-images.tsx')
})

const png = new File([Buffer.from(IMAGES.png, 'base64')], 'dots.png', { type: 'image/png' })
const svg = new File(['<svg onload="alert(1)"/>'], 'evil.png', { type: 'image/png' })

describe('Image files', () => {
  test('become data URLs with the type of their bytes, whatever their names and declared types are', async () => {
    const gif = new File([Buffer.from(IMAGES.gif, 'base64')], 'a.png', { type: 'image/png' })
    expect(await readImageFiles([png, gif], 0)).toEqual({
      urls: [PNG_URL, `data:image/gif;base64,${IMAGES.gif}`],
      refusal: undefined,
    })
  })

  test('that are no images, or too large, are named with the reason, and the others are attached', async () => {
    const large = { name: 'large.png', size: LIMITS.imageBytes + 1 } as File
    const { urls, refusal } = await readImageFiles([svg, png, large], 0)
    expect(urls).toEqual([PNG_URL])
    expect(refusal?.message).toBe(
      'evil.png is not attached. Its bytes are no PNG, JPEG, WebP or GIF image. large.png is not attached. It has 16,777,217 bytes, more than the limit of 16 MiB for one image.',
    )
    expect(refusal?.hint).toBe('Attach PNG, JPEG, WebP or GIF images.')
  })

  test('beyond the limit of a question are not attached', async () => {
    const { urls, refusal } = await readImageFiles([png, png], LIMITS.images - 1)
    expect([urls.length, refusal?.message]).toEqual([1, 'A question may have at most 32 images.'])
  })
})

const onAttach = vi.fn()
const onSend = vi.fn()

/** Page with a composer. */
function Page({ images, noImages }: { readonly images: readonly string[]; readonly noImages?: string }) {
  const [draft, setDraft] = useState<PromptWithImages>({ ...EMPTY_PROMPT, question: 'What is this?', images })
  return (
    <Composer
      draft={draft}
      onChange={(change) => setDraft({ ...draft, ...change })}
      onAttach={onAttach}
      noImages={noImages}
      refusal={images.length > 0 ? noImages : undefined}
      state="ready"
      isFirst
      onSend={onSend}
      onStop={() => {}}
      onStartOver={() => {}}
      onPreview={() => new Promise<never>(() => {})}
      previewed={{}}
    />
  )
}

describe('The composer', () => {
  test('attaches chosen and pasted images, and leaves pasted text alone', async () => {
    render(<Page images={[]} />)
    await userEvent.upload(screen.getByLabelText('Image files'), [png])
    expect(onAttach).toHaveBeenLastCalledWith([png])
    const paste = (types: readonly string[]) =>
      fireEvent.paste(screen.getByLabelText('Question'), { clipboardData: { files: [png], types } })
    expect(paste(['Files'])).toBe(false)
    expect(onAttach).toHaveBeenCalledTimes(2)
    expect(paste(['text/plain', 'Files'])).toBe(true)
    expect(onAttach).toHaveBeenCalledTimes(2)
  })

  test('shows attached images in order, and removes them by keyboard without losing the focus', async () => {
    render(<Page images={[PNG_URL, JPEG_URL]} />)
    const shown = () => screen.queryAllByRole('img').map((image) => image.getAttribute('alt'))
    expect(await screen.findAllByRole('img')).toHaveLength(2)
    expect(shown()).toEqual(['Image 1, PNG, 6 × 4', 'Image 2, JPEG, 6 × 4'])
    screen.getByRole('button', { name: 'Remove image 1, PNG, 6 × 4' }).focus()
    await userEvent.keyboard('{Enter}')
    expect(shown()).toEqual(['Image 1, JPEG, 6 × 4'])
    expect(document.activeElement?.getAttribute('aria-label')).toBe('Remove image 1, JPEG, 6 × 4')
    await userEvent.keyboard('{Enter}')
    expect(shown()).toEqual([])
    expect(document.activeElement).toBe(screen.getByLabelText('Question'))
  })

  test('says why a server takes no images, and sends none to it', async () => {
    const noImages = 'SGLang serves a model that reads no images. Choose another.'
    const { rerender } = render(<Page images={[PNG_URL]} noImages={noImages} />)
    expect(screen.getByRole('alert').textContent).toBe(noImages)
    expect(screen.getByRole('button', { name: /Send/ })).toHaveProperty('disabled', true)
    const attach = screen.getByRole('button', { name: 'Attach images', description: noImages })
    expect(attach.getAttribute('aria-disabled')).toBe('true')
    await userEvent.click(attach)
    expect(onAttach).toHaveBeenLastCalledWith([])
    rerender(<Page key="other" images={[]} noImages={noImages} />)
    expect(screen.getByRole('button', { name: /Send/ })).toHaveProperty('disabled', false)
  })
})
