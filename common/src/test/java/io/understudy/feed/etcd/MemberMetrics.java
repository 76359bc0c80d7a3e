package io.understudy.feed.etcd;

import io.understudy.local.etcd.EtcdMember;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;

/** The load that members report. */
public final class MemberMetrics {

    private static final String RANGES =
            "grpc_server_handled_total{grpc_code=\"OK\",grpc_method=\"Range\",grpc_service=\"etcdserverpb.KV\"";
    private static final String WATCHERS = "etcd_debugging_mvcc_watcher_total";

    private static final HttpClient HTTP = HttpClient.newHttpClient();

    private MemberMetrics() {}

    /** Requests of a method received since the members started. */
    public static long requests(List<EtcdMember> members, String method) throws IOException, InterruptedException {
        long sum = 0;
        for (EtcdMember member : members) {
            sum += sum(member, "grpc_server_started_total{grpc_method=\"" + method + "\"");
        }
        return sum;
    }

    /** Range requests served since the members started. */
    static long ranges(List<EtcdMember> members) throws IOException, InterruptedException {
        long sum = 0;
        for (EtcdMember member : members) {
            sum += sum(member, RANGES);
        }
        return sum;
    }

    /** Watchers now. */
    static long watchers(EtcdMember member) throws IOException, InterruptedException {
        return sum(member, WATCHERS);
    }

    private static long sum(EtcdMember member, String metric) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(member.directClientUrl().resolve("/metrics"))
                .timeout(Duration.ofSeconds(10))
                .build();
        return HTTP.send(request, HttpResponse.BodyHandlers.ofLines())
                .body()
                .filter(line -> line.startsWith(metric))
                .mapToLong(line -> (long) Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }
}
