"""Writes a plan that sends one request under each of very many labels, one of which fails."""

PLAN = """<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="many labels"/><hashTree>
<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="visitor">
  <stringProp name="ThreadGroup.num_threads">1</stringProp>
  <stringProp name="ThreadGroup.ramp_time">0</stringProp>
  <stringProp name="ThreadGroup.on_sample_error">continue</stringProp>
  <elementProp name="ThreadGroup.main_controller" elementType="LoopController">
    <boolProp name="LoopController.continue_forever">false</boolProp>
    <stringProp name="LoopController.loops">{loops}</stringProp>
  </elementProp>
</ThreadGroup><hashTree>
<CSVDataSet guiclass="TestBeanGUI" testclass="CSVDataSet" testname="items">
  <stringProp name="filename">items.csv</stringProp>
  <stringProp name="delimiter">,</stringProp>
  <boolProp name="recycle">false</boolProp>
  <stringProp name="shareMode">shareMode.all</stringProp>
</CSVDataSet><hashTree/>
<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="${{item}}">
  <elementProp name="HTTPsampler.Arguments" elementType="Arguments">
    <collectionProp name="Arguments.arguments"/>
  </elementProp>
  <stringProp name="HTTPSampler.domain">${{__P(host)}}</stringProp>
  <stringProp name="HTTPSampler.port">${{__P(port)}}</stringProp>
  <stringProp name="HTTPSampler.protocol">http</stringProp>
  <stringProp name="HTTPSampler.path">/sum/${{n}}</stringProp>
  <stringProp name="HTTPSampler.method">GET</stringProp>
</HTTPSamplerProxy><hashTree/>
</hashTree></hashTree></hashTree></jmeterTestPlan>
"""


def plan_of_many_labels(folder, good, bad):
    """A plan with the labels `item 0`, `item 1`, ... that succeed, and one that does not."""
    rows = [f"item {number},{number}" for number in range(good)]
    rows.insert(good // 2, f"{bad},none")
    (folder / "items.csv").write_text("\n".join(["item,n", *rows]) + "\n")
    plan = folder / "many-labels.jmx"
    plan.write_text(PLAN.format(loops=len(rows)))
    return plan
