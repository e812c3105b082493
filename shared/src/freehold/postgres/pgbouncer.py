"""Parameters of PgBouncer that CloudNativePG lets people set.

Rules: "PgBouncer configuration options" in CloudNativePG's documentation.
"""

from __future__ import annotations

from collections.abc import Iterable

PARAMETERS = frozenset({
    *("application_name_add_host", "auth_type", "auth_user", "autodb_idle_timeout", "cancel_wait_timeout"),
    *("client_idle_timeout", "client_login_timeout", "client_tls13_ciphers", "client_tls_ciphers"),
    *("client_tls_sslmode", "default_pool_size", "disable_pqexec", "dns_max_ttl", "dns_nxdomain_ttl"),
    *("idle_transaction_timeout", "ignore_startup_parameters", "listen_backlog", "log_connections"),
    *("log_disconnections", "log_pooler_errors", "log_stats", "max_client_conn", "max_db_connections"),
    *("max_packet_size", "max_prepared_statements", "max_user_connections", "min_pool_size", "pkt_buf"),
    *("query_timeout", "query_wait_timeout", "reserve_pool_size", "reserve_pool_timeout", "sbuf_loopcnt"),
    *("server_check_delay", "server_check_query", "server_connect_timeout", "server_fast_close"),
    *("server_idle_timeout", "server_lifetime", "server_login_retry", "server_reset_query"),
    *("server_reset_query_always", "server_round_robin", "server_tls13_ciphers", "server_tls_ciphers"),
    *("server_tls_protocols", "server_tls_sslmode", "stats_period", "suspend_timeout", "tcp_defer_accept"),
    *("tcp_keepalive", "tcp_keepcnt", "tcp_keepidle", "tcp_keepintvl", "tcp_socket_buffer", "tcp_user_timeout"),
    *("track_extra_parameters", "verbose"),
})  # fmt: skip


def faults(parameters: Iterable[str], place: str) -> tuple[str, ...]:
    """What CloudNativePG would refuse, for people.

    Args:
        parameters: names of the parameters.
        place: field that holds them.
    """
    refused = sorted(set(parameters) - PARAMETERS)
    return tuple(f"{place}: {each} isn't a parameter that CloudNativePG lets be set: take it out" for each in refused)
