package io.understudy.manifests;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.introspect.Annotated;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.autoscaling.v2.HorizontalPodAutoscaler;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.openshift.api.model.monitoring.v1.PrometheusRule;
import io.fabric8.openshift.api.model.monitoring.v1.ServiceMonitor;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** One object of Kubernetes, as it is in a file. */
record Manifest(JsonNode tree) {

    private static final Map<String, Class<?>> KINDS = Map.ofEntries(
            Map.entry("v1/ConfigMap", ConfigMap.class),
            Map.entry("v1/Namespace", Namespace.class),
            Map.entry("v1/Service", Service.class),
            Map.entry("v1/ServiceAccount", ServiceAccount.class),
            Map.entry("apps/v1/Deployment", Deployment.class),
            Map.entry("apps/v1/StatefulSet", StatefulSet.class),
            Map.entry("autoscaling/v2/HorizontalPodAutoscaler", HorizontalPodAutoscaler.class),
            Map.entry("batch/v1/Job", Job.class),
            Map.entry("monitoring.coreos.com/v1/PrometheusRule", PrometheusRule.class),
            Map.entry("monitoring.coreos.com/v1/ServiceMonitor", ServiceMonitor.class),
            Map.entry("networking.k8s.io/v1/NetworkPolicy", NetworkPolicy.class),
            Map.entry("policy/v1/PodDisruptionBudget", PodDisruptionBudget.class));

    /** The versions of a cluster without custom resources. */
    static final List<String> PLAIN = List.of("v1", "apps/v1", "policy/v1", "networking.k8s.io/v1", "autoscaling/v2");

    /** By default the models keep unknown fields. */
    private static final JsonMapper STRICT = JsonMapper.builder()
            .annotationIntrospector(new JacksonAnnotationIntrospector() {
                @Override
                public Boolean hasAnySetter(Annotated annotated) {
                    return false;
                }
            })
            .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .build();

    /** The objects of a YAML stream. */
    static List<Manifest> of(String yaml) throws IOException {
        List<Manifest> manifests = new ArrayList<>();
        try (var values = new YAMLMapper().readerFor(JsonNode.class).<JsonNode>readValues(yaml)) {
            while (values.hasNext()) {
                manifests.add(new Manifest(values.next()));
            }
        }
        return manifests;
    }

    String kind() {
        return tree.path("kind").asText();
    }

    String name() {
        return tree.at("/metadata/name").asText();
    }

    String namespace() {
        return tree.at("/metadata/namespace").asText();
    }

    /**
     * Reads it as its kind.
     *
     * @throws IOException a kind, a field or a type that Kubernetes doesn't have there
     */
    void read() throws IOException {
        String kind = tree.path("apiVersion").asText() + "/" + kind();
        Class<?> type =
                Optional.ofNullable(KINDS.get(kind)).orElseThrow(() -> new IOException("no kind is known as " + kind));
        var unused = STRICT.treeToValue(tree, type);
    }

    /** The template of the pods that it makes. */
    Optional<JsonNode> pods() {
        return Optional.of(tree.at("/spec/template")).filter(JsonNode::isObject);
    }

    @Override
    public String toString() {
        return kind() + "/" + name();
    }
}
