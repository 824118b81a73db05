"""Why members of a LiteLLM config have no counterpart here."""

SILENCE = "limits a silence of the upstream here, not the whole call"
REQUESTS = "the gateway adds no parameters to requests: set it in the caller"
_AWS = "belongs to AWS, where no channel can sign"
_TOLD = "is not needed: it only informs"
_LOGS = "logs, metrics and traces have settings of their own (docs/operations.md)"
_KEYS = "keys, teams and budgets are made anew: `tidegate keys create`, `tidegate accounts create`"
_CACHE = "answers are not cached"
_ALERTS = "alerts are for Prometheus: deploy/ has rules"
_CONTENT = "nothing looks into what callers and models say"

DEPLOYMENT: dict[str, str] = {
    **dict.fromkeys(
        (
            *("temperature", "top_p", "top_k", "seed", "stop", "presence_penalty", "frequency_penalty"),
            *("response_format", "reasoning_effort", "thinking", "user", "n", "logit_bias", "extra_body"),
            *("default_params", "allowed_openai_params", "additional_drop_params", "max_completion_tokens"),
        ),
        REQUESTS,
    ),
    **dict.fromkeys(
        ("aws_access_key_id", "aws_secret_access_key", "aws_region_name", "aws_session_token"), _AWS
    ),
    **dict.fromkeys(
        ("max_retries", "num_retries"), "tries are counted for all channels together (routing.max_attempts)"
    ),
    "cooldown_time": "cooldowns are the same for all channels (routing.cooldown)",
    "max_parallel_requests": "only keys and accounts have limits (max_concurrency)",
    "max_budget": "only keys and accounts have budgets",
    "budget_duration": "only keys and accounts have budgets",
    "tags": "channels are not chosen by tags",
    "mock_response": "tidegate sim plays a provider",
    "ssl_verify": "certificates are always checked; ca_file names roots of your own",
    "drop_params": "is a setting of keys here (conversion)",
    "litellm_credential_name": "is no name of the credential_list",
    "use_in_pass_through": "there are no routes that pass through",
    "merge_reasoning_content_in_choices": "reasoning stays where the protocol has it",
    "azure_ad_token": "such tokens expire; use a key",
    "tenant_id": "such tokens expire; use a key",
    "client_id": "such tokens expire; use a key",
    "client_secret": "such tokens expire; use a key",
    "input_cost_per_second": "prices are by tokens",
    "output_cost_per_second": "prices are by tokens",
    "model_info": "stands outside of litellm_params",
}

MODEL_INFO: dict[str, str] = {
    **dict.fromkeys(
        (
            *("id", "base_model", "max_tokens", "max_input_tokens", "version", "metadata", "db_model"),
            *("supports_vision", "supports_function_calling", "supports_tool_choice", "supports_reasoning"),
            *("supports_parallel_function_calling", "supports_response_schema", "supports_system_messages"),
            *("supports_prompt_caching", "supports_pdf_input", "supports_audio_input", "litellm_provider"),
        ),
        _TOLD,
    ),
    "access_groups": "name the models in each key",
    "team_id": _KEYS,
    "health_check_model": "channels are not asked by themselves; `tidegate doctor` does it",
    "input_cost_per_second": "prices are by tokens",
    "output_cost_per_second": "prices are by tokens",
}

ROUTER: dict[str, str] = {
    "routing_strategy_args": "channels are chosen by priority and weight",
    "context_window_fallbacks": "what is too long for a model is the caller's to know",
    "content_policy_fallbacks": "what a provider refuses is not asked of another",
    "enable_pre_call_checks": "prompts are not counted before a model is chosen",
    "retry_policy": "tries are counted for all kinds of failures together (routing.max_attempts)",
    "allowed_fails_policy": "failures are counted together (routing.failures_before_cooldown)",
    "retry_after": "the wish of the upstream is followed",
    "enable_tag_filtering": "channels are not chosen by tags",
    "tag_filtering_match_any": "channels are not chosen by tags",
    "default_max_parallel_requests": "only keys and accounts have limits (max_concurrency)",
    "default_litellm_params": REQUESTS,
    "max_fallbacks": "tries are counted for all channels together (routing.max_attempts)",
    "cache_responses": _CACHE,
    "cache_kwargs": _CACHE,
    "caching_groups": _CACHE,
    "set_verbose": _LOGS,
    "debug_level": _LOGS,
    "client_ttl": "is not needed",
    "provider_budget_config": "only keys and accounts have budgets",
}

LITELLM: dict[str, str] = {
    **ROUTER,
    **dict.fromkeys(("cache", "cache_params", "enable_redis_auth_cache"), _CACHE),
    **dict.fromkeys(
        (
            *("success_callback", "failure_callback", "callbacks", "service_callbacks", "json_logs"),
            *("turn_off_message_logging", "redact_user_api_key_info", "langfuse_default_tags"),
            *("redact_messages_in_exceptions", "store_audit_logs", "request_correlation_in_logs"),
        ),
        _LOGS,
    ),
    **dict.fromkeys(
        (
            *("max_budget", "budget_duration", "max_internal_user_budget", "internal_user_budget_duration"),
            *("default_internal_user_params", "default_team_settings", "upperbound_key_generate_params"),
            *("default_key_generate_params", "key_generation_settings", "max_end_user_budget"),
        ),
        _KEYS,
    ),
    "guardrails": _CONTENT,
    "modify_params": "conversions are described in docs/conversion.md",
    "force_ipv4": "is not needed",
    "ssl_verify": "certificates are always checked; ca_file of a channel names roots of your own",
    "model_alias_map": "use router_settings.model_group_alias",
    "public_model_groups": "what a key may use is what it is shown",
    "disable_copilot_system_to_assistant": "is not needed",
}

GENERAL: dict[str, str] = {
    **dict.fromkeys(
        (
            *("database_url", "database_connection_pool_limit", "database_connection_timeout"),
            *(
                "store_model_in_db",
                "store_prompts_in_spend_logs",
                "disable_spend_logs",
                "proxy_batch_write_at",
            ),
            *(
                "disable_prisma_schema_update",
                "allow_requests_on_db_unavailable",
                "use_redis_transaction_buffer",
            ),
        ),
        "the gateway keeps a database of its own (database.url), and reads none of LiteLLM's",
    ),
    **dict.fromkeys(("alerting", "alerting_threshold", "alert_types", "alerting_args"), _ALERTS),
    **dict.fromkeys(
        (
            *("custom_auth", "enable_jwt_auth", "litellm_jwtauth", "enable_oauth2_auth", "custom_sso"),
            *("ui_access_mode", "user_header_name", "enforce_user_param", "custom_key_generate"),
            *("litellm_key_header_name", "allow_user_auth", "service_account_settings"),
        ),
        "callers have keys, operators have tokens; there is no other sign-in",
    ),
    **dict.fromkeys(
        ("background_health_checks", "health_check_interval", "health_check_details"),
        "channels are not asked by themselves; what requests find out is what counts",
    ),
    **dict.fromkeys(
        ("key_management_system", "key_management_settings", "use_azure_key_vault", "use_google_kms"),
        "secrets come from the environment (env:) or from files (file:)",
    ),
    "pass_through_endpoints": "there are no routes that pass through",
    "max_parallel_requests": "only keys and accounts have limits (max_concurrency)",
    "global_max_parallel_requests": "only keys and accounts have limits (max_concurrency)",
    "max_response_size_mb": "answers are bounded by the event (streaming.max_event_bytes)",
    "completion_model": "requests name their model",
    "embedding_model": "only the three generating protocols are served",
    "image_generation_model": "only the three generating protocols are served",
    "moderation_model": "only the three generating protocols are served",
    "forward_client_headers_to_llm_api": "channels name the headers that go up (forward_headers)",
    "allowed_ips": "is for the firewall or the proxy in front",
    "allowed_routes": "every key may use every generating route",
    "public_routes": "every key may use every generating route",
    "admin_only_routes": "every key may use every generating route",
    "maximum_spend_logs_retention_interval": "old rows are deleted all the time",
    "disable_master_key_return": "no secret is ever shown again",
    "litellm_license": "is not needed",
    "infer_model_from_keys": "is not needed",
}

SECTIONS: dict[str, str] = {
    "callback_settings": _LOGS,
    "guardrails": _CONTENT,
    "prompts": _CONTENT,
    "mcp_servers": "MCP servers are not served",
    "mcp_tools": "MCP servers are not served",
    "agent_list": "agents are not served",
    "search_tools": "only the providers' own tools are passed on",
    "vector_store_registry": "only the three generating protocols are served",
    "assistant_settings": "only the three generating protocols are served",
    "finetune_settings": "only the three generating protocols are served",
    "files_settings": "only the three generating protocols are served",
    "include": "only this file is read: put the others into it first",
}
