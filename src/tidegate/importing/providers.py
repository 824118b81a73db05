"""The providers that a LiteLLM model can name before its slash, and how they are reached from here."""

from msgspec import Struct

from tidegate.core.protocol import Protocol


class Provider(Struct, frozen=True, kw_only=True):
    """`base_url` None: it must be told. `key` is the variable that LiteLLM reads where no key is told."""

    name: str
    protocol: Protocol = Protocol.CHAT
    base_url: str | None = None
    key: str | None = None
    suffix: str = ""
    """What is missing at the end of a base URL that LiteLLM is told."""


_CHAT = (
    Provider(name="openai", base_url="https://api.openai.com/v1", key="OPENAI_API_KEY"),
    Provider(name="openrouter", base_url="https://openrouter.ai/api/v1", key="OPENROUTER_API_KEY"),
    Provider(name="deepseek", base_url="https://api.deepseek.com/v1", key="DEEPSEEK_API_KEY"),
    Provider(name="groq", base_url="https://api.groq.com/openai/v1", key="GROQ_API_KEY"),
    Provider(name="mistral", base_url="https://api.mistral.ai/v1", key="MISTRAL_API_KEY"),
    Provider(name="together_ai", base_url="https://api.together.xyz/v1", key="TOGETHERAI_API_KEY"),
    Provider(
        name="fireworks_ai", base_url="https://api.fireworks.ai/inference/v1", key="FIREWORKS_AI_API_KEY"
    ),
    Provider(name="xai", base_url="https://api.x.ai/v1", key="XAI_API_KEY"),
    Provider(name="perplexity", base_url="https://api.perplexity.ai", key="PERPLEXITYAI_API_KEY"),
    Provider(name="cerebras", base_url="https://api.cerebras.ai/v1", key="CEREBRAS_API_KEY"),
    Provider(name="deepinfra", base_url="https://api.deepinfra.com/v1/openai", key="DEEPINFRA_API_KEY"),
    Provider(name="nvidia_nim", base_url="https://integrate.api.nvidia.com/v1", key="NVIDIA_NIM_API_KEY"),
    Provider(name="moonshot", base_url="https://api.moonshot.ai/v1", key="MOONSHOT_API_KEY"),
    Provider(
        name="gemini",
        base_url="https://generativelanguage.googleapis.com/v1beta/openai",
        key="GEMINI_API_KEY",
    ),
    Provider(
        name="dashscope",
        base_url="https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        key="DASHSCOPE_API_KEY",
    ),
    Provider(
        name="volcengine", base_url="https://ark.cn-beijing.volces.com/api/v3", key="VOLCENGINE_API_KEY"
    ),
    Provider(name="ollama", base_url="http://localhost:11434/v1", suffix="/v1"),
    Provider(name="ollama_chat", base_url="http://localhost:11434/v1", suffix="/v1"),
    Provider(name="lm_studio", key="LM_STUDIO_API_KEY"),
    Provider(name="hosted_vllm", key="HOSTED_VLLM_API_KEY"),
    Provider(name="vllm"),
    Provider(name="llamafile", key="LLAMAFILE_API_KEY"),
    Provider(name="openai_like", key="OPENAI_LIKE_API_KEY"),
    Provider(name="custom_openai"),
    Provider(name="litellm_proxy", key="LITELLM_PROXY_API_KEY"),
    Provider(name="xinference"),
)
ANTHROPIC = Provider(
    name="anthropic",
    protocol=Protocol.MESSAGES,
    base_url="https://api.anthropic.com",
    key="ANTHROPIC_API_KEY",
)
AZURE = Provider(name="azure", key="AZURE_API_KEY")
PROVIDERS = {provider.name: provider for provider in (*_CHAT, ANTHROPIC, AZURE)}

ELSEWHERE = {
    "bedrock": "signs its requests with AWS credentials, which no channel can",
    "sagemaker": "signs its requests with AWS credentials, which no channel can",
    "vertex_ai": "asks for Google Cloud tokens that expire, which no channel can renew",
    "vertex_ai_beta": "asks for Google Cloud tokens that expire, which no channel can renew",
    "watsonx": "asks for IBM Cloud tokens that expire, which no channel can renew",
    "databricks": "speaks the protocol at a path of each model",
    "huggingface": "speaks the protocol at an address of each model: use openai/ with api_base",
    "cohere": "speaks a protocol of its own",
    "cohere_chat": "speaks a protocol of its own",
    "replicate": "speaks a protocol of its own",
    "ai21": "speaks a protocol of its own",
}
"""Providers that cannot be a channel, with the reason."""
