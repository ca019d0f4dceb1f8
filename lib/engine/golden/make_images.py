"""Writes images.json: prompts with images as transformers' processors read them.

Run with a Python that has transformers, torchvision and pillow: python lib/engine/golden/make_images.py
Processors need no weights. Their tokenizer is that of the shipped model, with the special tokens of each processor added.
"""

import json
from pathlib import Path

import transformers
from PIL import Image
from transformers import (
    CLIPImageProcessor,
    Gemma3ImageProcessor,
    Gemma3Processor,
    Glm4vImageProcessor,
    Glm4vProcessor,
    Glm4vVideoProcessor,
    LlavaProcessor,
    PixtralImageProcessor,
    PixtralProcessor,
    PreTrainedTokenizerFast,
    Qwen2_5_VLProcessor,
    Qwen2VLImageProcessor,
    Qwen2VLProcessor,
    Qwen2VLVideoProcessor,
    Qwen3VLProcessor,
    Qwen3VLVideoProcessor,
)

HERE = Path(__file__).parent
SHIPPED = HERE.parents[2] / "models" / "tiny-qwen3" / "tokenizer.json"

# Width and height of the images of each prompt: square, wide, tall, tiny, large, and sizes that no patch divides.
PROMPTS = [
    [(224, 224)],
    [(640, 480)],
    [(37, 211)],
    [(1600, 300)],
    [(64, 64), (500, 333)],
    [(300, 300), (28, 28), (801, 599)],
]


def tokenizer(*tokens, **named):
    """Adds special tokens; `named` are those that the processor reads as attributes of the tokenizer."""
    made = PreTrainedTokenizerFast(tokenizer_file=str(SHIPPED), extra_special_tokens=named, pad_token="<|endoftext|>")
    made.add_tokens([*tokens, *named.values()], special_tokens=True)
    return made


def qwen(processor, image_processor, video_processor):
    tokens = ["<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"]
    own = tokenizer(*tokens)
    made = processor(image_processor=image_processor, tokenizer=own, video_processor=video_processor)
    return made, "<|vision_start|><|image_pad|><|vision_end|>"


def processors():
    """Yields the name of a model family, its processor, and what its chat template writes for an image."""
    yield "Qwen2-VL", qwen(Qwen2VLProcessor, Qwen2VLImageProcessor(), Qwen2VLVideoProcessor())
    yield "Qwen2.5-VL", qwen(Qwen2_5_VLProcessor, Qwen2VLImageProcessor(), Qwen2VLVideoProcessor())
    yield "Qwen3-VL", qwen(
        Qwen3VLProcessor,
        Qwen2VLImageProcessor(patch_size=16, image_mean=[0.5] * 3, image_std=[0.5] * 3),
        Qwen3VLVideoProcessor(),
    )
    gemma = tokenizer(boi_token="<start_of_image>", eoi_token="<end_of_image>", image_token="<image_soft_token>")
    yield "Gemma 3", (Gemma3Processor(image_processor=Gemma3ImageProcessor(), tokenizer=gemma), "<start_of_image>")
    yield "LLaVA", (
        LlavaProcessor(
            image_processor=CLIPImageProcessor(size={"shortest_edge": 336}, crop_size=336),
            tokenizer=tokenizer("<image>"),
            patch_size=14,
            vision_feature_select_strategy="default",
            num_additional_image_tokens=1,
        ),
        "<image>",
    )
    glm = tokenizer(*[f"<|{part}{kind}|>" for kind in ("image", "video") for part in ("begin_of_", "end_of_", "")])
    yield "GLM-4V", (
        Glm4vProcessor(image_processor=Glm4vImageProcessor(), tokenizer=glm, video_processor=Glm4vVideoProcessor()),
        "<|begin_of_image|><|image|><|end_of_image|>",
    )
    yield "Pixtral", (
        PixtralProcessor(
            image_processor=PixtralImageProcessor(),
            tokenizer=tokenizer("[IMG]", "[IMG_BREAK]", "[IMG_END]"),
            patch_size=16,
        ),
        "[IMG]",
    )


def run_lengths(ids):
    """Pairs of id and number of repetitions: prompts of thousands of placeholders become short."""
    runs = []
    for one in ids:
        if runs and runs[-1][0] == one:
            runs[-1][1] += 1
        else:
            runs.append([one, 1])
    return runs


def main():
    golden = {"made with": f"transformers {transformers.__version__}", "processors": {}}
    for name, (processor, placeholder) in processors():
        prompts = []
        for sizes in PROMPTS:
            parts = [f"<|im_start|>user\nImage {index + 1}: {placeholder}" for index in range(len(sizes))]
            text = "".join(parts) + " What is this?<|im_end|>\n"
            images = [Image.new("RGB", size, (index * 40, 90, 160)) for index, size in enumerate(sizes)]
            read = processor(images=images, text=[text], return_tensors=None)["input_ids"][0]
            prompts.append(
                {
                    "sizes": sizes,
                    # The count that inference servers ask the processor for, without making the prompt.
                    "tokens": processor._get_num_multimodal_tokens(image_sizes=[(h, w) for w, h in sizes])[
                        "num_image_tokens"
                    ],
                    "sent": processor.tokenizer(text)["input_ids"],
                    "read": run_lengths([int(one) for one in read]),
                }
            )
        added = {token.content: number for number, token in processor.tokenizer.added_tokens_decoder.items()}
        golden["processors"][name] = {"added": added, "prompts": prompts}
    (HERE / "images.json").write_text(json.dumps(golden, ensure_ascii=False, separators=(",", ":")).replace('"sizes"', '\n"sizes"') + "\n")


main()
