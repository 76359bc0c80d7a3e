package io.understudy.gateway.json;

import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdCluster;
import io.understudy.tls.TlsContext;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Iterator;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The form in which the source's own members answer JSON; until one has been asked, that of official etcd 3.5. For any
 * thread.
 */
public final class SourceForm implements Supplier<JsonForm> {

    private static final Logger LOG = LoggerFactory.getLogger(SourceForm.class);

    /** A range without a key: every member refuses it, whatever it is, without doing anything. */
    private static final String REFUSED = "{}";

    private final EtcdCluster source;
    private final HttpClient http;
    private volatile JsonForm form = JsonForm.GRPC_GATEWAY_1;

    public SourceForm(EtcdCluster source) {
        this.source = source;
        Duration patience = source.settings().requestTimeout();
        HttpClient.Builder builder =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(patience);
        this.http = TlsContext.of(source.settings().tls()).applyTo(builder).build();
    }

    @Override
    public JsonForm get() {
        return form;
    }

    /** Asks one member after the other until one has told; when none does, the form stays what it was. Doesn't wait. */
    public void ask() {
        ask(source.view().members().stream()
                .flatMap(member -> member.endpoints().stream())
                .iterator());
    }

    private void ask(Iterator<Endpoint> rest) {
        if (!rest.hasNext()) {
            LOG.warn("no member of the source answers JSON, so its form is not known form={}", form);
            return;
        }
        HttpRequest request = HttpRequest.newBuilder(rest.next().uri().resolve("/v3/kv/range"))
                .timeout(source.settings().requestTimeout())
                .POST(BodyPublishers.ofString(REFUSED))
                .build();
        var unused = http.sendAsync(request, BodyHandlers.ofString())
                .handle((response, failure) ->
                        Optional.ofNullable(response).map(HttpResponse::body).flatMap(JsonForm::ofRefusal))
                .thenAccept(told -> told.ifPresentOrElse(this::use, () -> ask(rest)));
    }

    private void use(JsonForm told) {
        form = told;
        LOG.info("JSON is answered in the source's form form={}", told);
    }
}
